/**
 * `config.toml`: what a person has decided. A key that means nothing (of a later version, or a slip) is told and passed over; a value
 * that makes no sense is refused, by name.
 */
import { readFileSync } from "node:fs";
import { type Budget, HoldfastError, MOST_MEMBERS, USUAL_GROUP_LIMIT } from "@holdfast/contract";
import { configurationFile, durationMs, isMissing, sizeBytes } from "@holdfast/platform";
import { parse } from "smol-toml";
import { BACKGROUND, BACKGROUND_KEYS } from "./agent/background.ts";
import { BUDGET_KEYS, readBudget } from "./agent/budget.ts";
import { MCP_KEYS } from "./agent/mcp.ts";
import { AGENT_KEYS } from "./agent/user-profiles.ts";
import { EACH, type KnownKeys, lineOf, type UnknownKey, unknownKeys } from "./unknown-keys.ts";
import { PRICE_KEYS } from "./usage/prices.ts";

export interface Configuration {
  /** In tmux's notation: `C-\`, `F12`, `M-d`. */
  detachKey: string;
  /** Likewise: goes to the next session that waits. */
  nextKey: string;
  /** Bytes of each run that are kept; 0 keeps everything. */
  recordingLimit: number;
  /** How long an agent that works may show no sign of life; 0: for ever. */
  hungAfterMs: number;
  /** Whether the machine is kept from falling asleep while something works. */
  keepAwake: boolean;
  /** Whether the daemon brings back by itself, at its start, what was lost. */
  restoreAuto: boolean;
  prune: PrunePolicy;
  /** Members of a group that has no limit of its own. */
  groupLimit: number;
  /** Of agents whose own, and whose start, do not say otherwise. */
  budget: Budget;
  /** The tables `[agents.NAME]`, as they are; and the file, for who finds them wrong. */
  agents: { table: unknown; file: string };
  /** The tables `[mcp.NAME]`, likewise. */
  mcp: { table: unknown; file: string };
  /** The tables `[prices."MODEL"]`, likewise. */
  prices: { table: unknown; file: string };
  /** The table `[approvals]`, as it is, with the file and its text. */
  approvals: { table: unknown; file: string; text: string };
  file: string;
  isThere: boolean;
  unknown: UnknownKey[];
}

/** Of ended sessions that somebody has looked at. Null: that one is off. */
export interface PrunePolicy {
  ageMs: number | null;
  conversationAgeMs: number | null;
  bytes: number | null;
  /** How often the daemon looks. */
  everyMs: number;
}

const DEFAULTS: Omit<Configuration, "file" | "isThere"> = {
  detachKey: "C-\\",
  nextKey: "C-]",
  recordingLimit: 64 * 2 ** 20,
  hungAfterMs: 10 * 60_000,
  restoreAuto: false,
  keepAwake: false,
  prune: { ageMs: 30 * 86_400_000, conversationAgeMs: 30 * 86_400_000, bytes: 10 * 2 ** 30, everyMs: 3_600_000 },
  groupLimit: USUAL_GROUP_LIMIT,
  budget: {},
  agents: { table: undefined, file: "config.toml" },
  mcp: { table: undefined, file: "config.toml" },
  prices: { table: undefined, file: "config.toml" },
  approvals: { table: undefined, file: "config.toml", text: "" },
  unknown: [],
};

/** Recordings are deleted by the megabyte, and the one that grows stays. */
const LEAST_RECORDING = 2 * 2 ** 20;

/** A key with a modifier, or a function key: a plain letter would be taken from the agent. */
const KEY = /^(?:[CM]-[!-&(-~]|F(?:[1-9]|1[0-2]))$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** As without a file: for who must go on when it cannot be read. */
export function defaultConfiguration(env: Environment = process.env): Configuration {
  return { ...DEFAULTS, file: configurationFile(env), isThere: false };
}

export function readConfiguration(env: Environment = process.env): Configuration {
  const path = configurationFile(env);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return defaultConfiguration(env);
    const hint = "make it a file that you can read, or remove it";
    throw new HoldfastError("usage", `${path} cannot be read: ${(error as Error).message}`, { hint, cause: error });
  }
  const values = parseToml(path, text);
  const known: KnownKeys = {
    agents: { [BACKGROUND]: BACKGROUND_KEYS, [EACH]: AGENT_KEYS },
    approvals: true,
    budget: { ...BUDGET_KEYS },
    mcp: { [EACH]: { ...MCP_KEYS } },
    prices: { [EACH]: PRICE_KEYS },
    // The CLI's own: how it reaches other machines.
    machines: { [EACH]: { ssh: true, command: true } },
  };
  const table = new Table({ path, text, values, known });
  const prune = table.table("prune");
  const decided = {
    detachKey: table.value("detach_key", {
      read: (key) => (typeof key === "string" && KEY.test(key) ? key : undefined),
      isNot: "a key",
      hint: 'for example: detach_key = "C-\\\\" or "F12"',
      otherwise: DEFAULTS.detachKey,
    }),
    nextKey: table.value("next_key", {
      read: (key) => (typeof key === "string" && KEY.test(key) ? key : undefined),
      isNot: "a key",
      hint: 'for example: next_key = "C-]" or "F11"',
      otherwise: DEFAULTS.nextKey,
    }),
    recordingLimit: table.value("recording_limit", {
      read: orOff(0, (value) => atLeast(LEAST_RECORDING, sizeBytes(value))),
      isNot: "a size of at least 2M",
      hint: 'for example: recording_limit = "64M", or "off" to keep everything',
      otherwise: DEFAULTS.recordingLimit,
    }),
    hungAfterMs: table.value("hung_after", {
      read: orOff(0, (value) => atLeast(1000, durationMs(value))),
      isNot: "a time of at least 1s",
      hint: 'for example: hung_after = "10m", or "off"',
      otherwise: DEFAULTS.hungAfterMs,
    }),
    keepAwake: table.value("keep_awake", {
      read: (value) => (typeof value === "boolean" ? value : undefined),
      isNot: "true or false",
      hint: "for example: keep_awake = true",
      otherwise: DEFAULTS.keepAwake,
    }),
    restoreAuto: table.value("restore", {
      read: (value) => (value === "auto" ? true : value === "off" ? false : undefined),
      isNot: "auto or off",
      hint: 'for example: restore = "auto"',
      otherwise: DEFAULTS.restoreAuto,
    }),
    prune: {
      ageMs: prune.value("age", {
        read: orOff(null, durationMs),
        isNot: "an age",
        hint: 'for example: age = "30d", or "off"',
        otherwise: DEFAULTS.prune.ageMs,
      }),
      conversationAgeMs: prune.value("conversations", {
        read: orOff(null, durationMs),
        isNot: "an age",
        hint: 'for example: conversations = "30d", or "off"',
        otherwise: DEFAULTS.prune.conversationAgeMs,
      }),
      bytes: prune.value("size", {
        read: orOff(null, sizeBytes),
        isNot: "a size",
        hint: 'for example: size = "10G", or "off"',
        otherwise: DEFAULTS.prune.bytes,
      }),
      everyMs: prune.value("every", {
        read: (value) => (typeof value === "string" ? atLeast(1000, atMost(86_400_000, durationMs(value))) : undefined),
        isNot: "a time between 1s and 1d",
        hint: 'for example: every = "1h"',
        otherwise: DEFAULTS.prune.everyMs,
      }),
    },
    groupLimit: table.table("groups").value("limit", {
      read: (value) => (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_MEMBERS ? Number(value) : undefined),
      isNot: "a number of members from 1 to 1,000",
      hint: "for example: limit = 64",
      otherwise: DEFAULTS.groupLimit,
    }),
    budget: readBudget(values.budget, { file: path, path: "budget" }),
    agents: { table: values.agents, file: path },
    mcp: { table: values.mcp, file: path },
    prices: { table: values.prices, file: path },
    approvals: { table: values.approvals, file: path, text },
  };
  return { ...decided, file: path, isThere: true, unknown: unknownKeys(values, known, text) };
}

/** What is asked for is known; nothing else is. */
class Table {
  readonly #path: string;
  readonly #text: string;
  readonly #values: Record<string, unknown>;
  readonly #known: KnownKeys;
  readonly #prefix: string;

  constructor(options: { path: string; text: string; values: Record<string, unknown>; known: KnownKeys; prefix?: string }) {
    this.#path = options.path;
    this.#text = options.text;
    this.#values = options.values;
    this.#known = options.known;
    this.#prefix = options.prefix ?? "";
  }

  table(key: string): Table {
    const values = this.#values[key] ?? {};
    if (typeof values !== "object" || Array.isArray(values)) throw this.#wrong(key, "is not a table", `for example: [${key}]`);
    const known: KnownKeys = {};
    this.#known[key] = known;
    return new Table({ path: this.#path, text: this.#text, values: values as Record<string, unknown>, known, prefix: `${key}.` });
  }

  value<T>(key: string, how: { read(value: unknown): T | undefined; isNot: string; hint: string; otherwise: T }): T {
    this.#known[key] = true;
    const value = this.#values[key];
    if (value === undefined) return how.otherwise;
    const read = how.read(value);
    if (read !== undefined) return read;
    throw this.#wrong(key, `${JSON.stringify(value)} is not ${how.isNot}`, how.hint);
  }

  #wrong(key: string, what: string, hint: string): HoldfastError {
    const line = lineOf(this.#text, this.#prefix + key);
    const where = line === null ? this.#path : `${this.#path}, line ${line}`;
    return new HoldfastError("usage", `${where}: ${this.#prefix}${key} ${what}`, { hint });
  }
}

function orOff<T>(off: T, read: (text: string) => number | undefined): (value: unknown) => T | number | undefined {
  return (value) => (value === "off" ? off : typeof value === "string" ? read(value) : undefined);
}

function atLeast(least: number, value: number | undefined): number | undefined {
  return value !== undefined && value >= least ? value : undefined;
}

function atMost(most: number, value: number | undefined): number | undefined {
  return value !== undefined && value <= most ? value : undefined;
}

function parseToml(path: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    const { line, column, message } = cause as Error & { line?: number; column?: number };
    const why = message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
    const place = line === undefined ? "" : `, line ${line}, column ${column}`;
    const hint = "correct it there, or move the file away to go on with the defaults; holdfast doctor looks at it again";
    throw new HoldfastError("usage", `${path} is not valid TOML${place}: ${why}`, { hint, cause });
  }
}
