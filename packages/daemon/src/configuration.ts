/** `config.toml`: what a person has decided. A key of a later version is passed over; a value that makes no sense is refused, by name. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { durationMs, isMissing, sizeBytes } from "@holdfast/platform";
import { parse } from "smol-toml";

export interface Configuration {
  /** In tmux's notation: `C-\`, `F12`, `M-d`. */
  detachKey: string;
  /** Likewise: goes to the next session that waits. */
  nextKey: string;
  /** Bytes of each run that are kept; 0 keeps everything. */
  recordingLimit: number;
  /** How long an agent that works may show no sign of life; 0: for ever. */
  hungAfterMs: number;
  prune: PrunePolicy;
  /** The tables `[agents.NAME]`, as they are; and the file, for who finds them wrong. */
  agents: { table: unknown; file: string };
  /** The table `[approvals]`, as it is, with the file and its text. */
  approvals: { table: unknown; file: string; text: string };
}

/** Of ended sessions that somebody has looked at. Null: that one is off. */
export interface PrunePolicy {
  ageMs: number | null;
  bytes: number | null;
  /** How often the daemon looks. */
  everyMs: number;
}

const DEFAULTS: Configuration = {
  detachKey: "C-\\",
  nextKey: "C-]",
  recordingLimit: 64 * 2 ** 20,
  hungAfterMs: 10 * 60_000,
  prune: { ageMs: 30 * 86_400_000, bytes: 10 * 2 ** 30, everyMs: 3_600_000 },
  agents: { table: undefined, file: "config.toml" },
  approvals: { table: undefined, file: "config.toml", text: "" },
};

/** Recordings are deleted by the megabyte, and the one that grows stays. */
const LEAST_RECORDING = 2 * 2 ** 20;

/** A key with a modifier, or a function key: a plain letter would be taken from the agent. */
const KEY = /^(?:[CM]-[!-&(-~]|F(?:[1-9]|1[0-2]))$/;

export function readConfiguration(env: Readonly<Record<string, string | undefined>> = process.env): Configuration {
  const path = join(env.XDG_CONFIG_HOME || join(env.HOME ?? "/", ".config"), "holdfast", "config.toml");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return DEFAULTS;
    throw error;
  }
  const values = parseToml(path, text);
  const table = new Table(path, values);
  const prune = table.table("prune");
  return {
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
    prune: {
      ageMs: prune.value("age", {
        read: orOff(null, durationMs),
        isNot: "an age",
        hint: 'for example: age = "30d", or "off"',
        otherwise: DEFAULTS.prune.ageMs,
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
    agents: { table: values.agents, file: path },
    approvals: { table: values.approvals, file: path, text },
  };
}

class Table {
  readonly #path: string;
  readonly #values: Record<string, unknown>;
  readonly #prefix: string;

  constructor(path: string, values: Record<string, unknown>, prefix = "") {
    this.#path = path;
    this.#values = values;
    this.#prefix = prefix;
  }

  table(key: string): Table {
    const value = this.#values[key] ?? {};
    if (typeof value === "object" && !Array.isArray(value)) return new Table(this.#path, value as Record<string, unknown>, `${key}.`);
    throw new HoldfastError("usage", `${this.#path}: ${key} is not a table`, { hint: `for example: [${key}]` });
  }

  value<T>(key: string, how: { read(value: unknown): T | undefined; isNot: string; hint: string; otherwise: T }): T {
    const value = this.#values[key];
    if (value === undefined) return how.otherwise;
    const read = how.read(value);
    if (read !== undefined) return read;
    throw new HoldfastError("usage", `${this.#path}: ${this.#prefix}${key} ${JSON.stringify(value)} is not ${how.isNot}`, {
      hint: how.hint,
    });
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
    const { line, message } = cause as Error & { line?: number };
    const why = message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
    throw new HoldfastError("usage", `${path} is not valid TOML${line === undefined ? "" : `, line ${line}`}: ${why}`, { cause });
  }
}
