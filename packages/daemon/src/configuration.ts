/**
 * Reads `config.toml`. An unknown key (a typo, or from a later version) is reported and ignored; an invalid value is refused by name.
 */
import { type Budget, HoldfastError, type Setting } from "@holdfast/contract";
import { configurationFile, configurationText, WrongSetting } from "@holdfast/platform";
import { parse } from "smol-toml";
import { readBudget } from "./agent/budget.ts";
import {
  DETACH_KEY,
  GROUP_LIMIT,
  HUNG_AFTER,
  KEEP_AWAKE,
  NEXT_KEY,
  PRUNE,
  RECORDING_LIMIT,
  RESTORE,
  USER_KEYS,
  type Value,
} from "./configuration-schema.ts";
import { lineOf, type UnknownKey, unknownKeys } from "./unknown-keys.ts";

export interface Configuration {
  /** In tmux's notation: `C-\`, `F12`, `M-d`. */
  detachKey: string;
  /** Moves to the next session that waits; same notation. */
  nextKey: string;
  /** Bytes kept of each run's recording; 0 keeps everything. */
  recordingLimit: number;
  /** How long a working agent may show no sign of life; 0: forever. */
  hungAfterMs: number;
  /** True if the machine is kept awake while an agent works. */
  keepAwake: boolean;
  /** True if the daemon resumes lost sessions when it starts. */
  restoreAuto: boolean;
  prune: PrunePolicy;
  /** Most members of a group that has no limit of its own. */
  groupLimit: number;
  /** The default budget, for agents and starts that set none. */
  budget: Budget;
  /** The tables `[agents.NAME]`, unchecked, and the file for error messages. */
  agents: { table: unknown; file: string };
  /** The tables `[mcp.NAME]`, likewise. */
  mcp: { table: unknown; file: string };
  /** The tables `[prices."MODEL"]`, likewise. */
  prices: { table: unknown; file: string };
  /** The table `[approvals]`, unchecked, with the file and its text. */
  approvals: { table: unknown; file: string; text: string };
  file: string;
  isThere: boolean;
  unknown: UnknownKey[];
}

/** Policy for ended sessions that a person has viewed. Null: that limit is off. */
export interface PrunePolicy {
  ageMs: number | null;
  conversationAgeMs: number | null;
  bytes: number | null;
  /** How often the daemon prunes. */
  everyMs: number;
}

const DEFAULTS: Omit<Configuration, "file" | "isThere"> = {
  detachKey: usualOf(DETACH_KEY),
  nextKey: usualOf(NEXT_KEY),
  recordingLimit: usualOf(RECORDING_LIMIT),
  hungAfterMs: usualOf(HUNG_AFTER),
  restoreAuto: usualOf(RESTORE),
  keepAwake: usualOf(KEEP_AWAKE),
  prune: {
    ageMs: usualOf(PRUNE.age),
    conversationAgeMs: usualOf(PRUNE.conversations),
    bytes: usualOf(PRUNE.size),
    everyMs: usualOf(PRUNE.every),
  },
  groupLimit: usualOf(GROUP_LIMIT),
  budget: {},
  agents: { table: undefined, file: "config.toml" },
  mcp: { table: undefined, file: "config.toml" },
  prices: { table: undefined, file: "config.toml" },
  approvals: { table: undefined, file: "config.toml", text: "" },
  unknown: [],
};

type Environment = Readonly<Record<string, string | undefined>>;

/** The defaults, for callers that must continue when the file cannot be read. */
export function defaultConfiguration(env: Environment = process.env): Configuration {
  return { ...DEFAULTS, file: configurationFile(env), isThere: false };
}

export function readConfiguration(env: Environment = process.env): Configuration {
  const path = configurationFile(env);
  const text = configurationText(path);
  if (text === null) return defaultConfiguration(env);
  const values = parseToml(path, text);
  const decided = {
    ...scalarsOf({ file: path, text, values }),
    budget: readBudget(values.budget, { file: path, path: "budget" }),
    agents: { table: values.agents, file: path },
    mcp: { table: values.mcp, file: path },
    prices: { table: values.prices, file: path },
    approvals: { table: values.approvals, file: path, text },
  };
  return { ...decided, file: path, isThere: true, unknown: unknownIn(values, text) };
}

/** Throws on the first invalid value. */
export function checkScalars(file: { file: string; text: string; values: Record<string, unknown> }): void {
  scalarsOf(file);
}

function scalarsOf({ file, text, values }: { file: string; text: string; values: Record<string, unknown> }) {
  const table = new Table({ path: file, text, values });
  const prune = table.table("prune");
  return {
    detachKey: table.value("detach_key", DETACH_KEY),
    nextKey: table.value("next_key", NEXT_KEY),
    recordingLimit: table.value("recording_limit", RECORDING_LIMIT),
    hungAfterMs: table.value("hung_after", HUNG_AFTER),
    keepAwake: table.value("keep_awake", KEEP_AWAKE),
    restoreAuto: table.value("restore", RESTORE),
    prune: {
      ageMs: prune.value("age", PRUNE.age),
      conversationAgeMs: prune.value("conversations", PRUNE.conversations),
      bytes: prune.value("size", PRUNE.size),
      everyMs: prune.value("every", PRUNE.every),
    },
    groupLimit: table.table("groups").value("limit", GROUP_LIMIT),
  };
}

/** Unknown keys of [approvals] are refused where its rules are read. */
export function unknownIn(values: Readonly<Record<string, unknown>>, text: string): UnknownKey[] {
  return unknownKeys(values, USER_KEYS, text).filter(({ key }) => !key.startsWith("approvals."));
}

class Table {
  readonly #path: string;
  readonly #text: string;
  readonly #values: Record<string, unknown>;
  readonly #prefix: string;

  constructor(options: { path: string; text: string; values: Record<string, unknown>; prefix?: string }) {
    this.#path = options.path;
    this.#text = options.text;
    this.#values = options.values;
    this.#prefix = options.prefix ?? "";
  }

  table(key: string): Table {
    const values = this.#values[key] ?? {};
    if (typeof values !== "object" || Array.isArray(values)) throw this.#wrong(key, "is not a table", `for example: [${key}]`);
    return new Table({ path: this.#path, text: this.#text, values: values as Record<string, unknown>, prefix: `${key}.` });
  }

  value<T>(key: string, setting: Value<T>): T {
    const value = this.#values[key];
    if (value === undefined) return usualOf(setting);
    const read = setting.read(value);
    if (read !== undefined) return read;
    throw this.#wrong(key, `${JSON.stringify(value)} is not ${setting.isNot}`, `for example: ${setting.example}${orOff(setting)}`);
  }

  #wrong(key: string, what: string, hint: string): WrongSetting {
    const full = this.#prefix + key;
    return new WrongSetting({ file: this.#path, line: lineOf(this.#text, full), key: full, what, hint });
  }
}

function usualOf<T>(setting: Value<T>): T {
  return setting.read(parse(`value = ${setting.usual}`).value) as T;
}

function orOff({ takes }: Setting): string {
  return takes.endsWith('or "off"') ? ', or "off"' : "";
}

export function parseToml(path: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    const { line, column, message } = cause as Error & { line?: number; column?: number };
    const why = message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
    const place = line === undefined ? "" : `, line ${line}, column ${column}`;
    const hint = "correct it, or move the file away to use the defaults; holdfast doctor checks it again";
    throw new HoldfastError("usage", `${path} is not valid TOML${place}: ${why}`, { hint, cause });
  }
}
