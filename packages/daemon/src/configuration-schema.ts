/**
 * Every key of config.toml and of a project's .holdfast/config.toml, with its description, default and example. The daemon reads values and finds
 * unknown keys by it; `holdfast config` and docs/reference/configuration.md show it.
 */
import { EACH, isSetting, type KnownKeys, MOST_MEMBERS, type Setting, USUAL_GROUP_LIMIT } from "@holdfast/contract";
import { durationMs, sizeBytes } from "@holdfast/platform";
import { BACKGROUND, BACKGROUND_KEYS } from "./agent/background.ts";
import { BUDGET_KEYS } from "./agent/budget.ts";
import { MCP_KEYS, OWN_SERVER, OWN_SERVER_SETTING } from "./agent/mcp.ts";
import { AGENT_KEYS } from "./agent/user-profiles.ts";
import { RULE_KEYS } from "./approval/rules.ts";
import { PRICE_KEYS } from "./usage/prices.ts";
import { WORKSPACE_KEYS } from "./workspace/setup/project.ts";

/** A setting that is one value. `isNot` completes "X is not …". */
export interface Value<T> extends Setting {
  read(value: unknown): T | undefined;
  isNot: string;
}

/** Recordings are cut by the megabyte, and the segment that grows stays. */
const LEAST_RECORDING = 2 * 2 ** 20;

/** A key with a modifier, or a function key: a plain letter would never reach the agent. */
const KEY = /^(?:[CM]-[!-&(-~]|F(?:[1-9]|1[0-2]))$/;

const key = {
  takes: "C- or M- and a character, or F1 to F12",
  read: (value: unknown) => (typeof value === "string" && KEY.test(value) ? value : undefined),
  isNot: "a key",
};

export const DETACH_KEY: Value<string> = {
  ...key,
  about: "The key that detaches your terminal from a session.",
  usual: '"C-\\\\"',
  example: 'detach_key = "F12"',
};

export const NEXT_KEY: Value<string> = {
  ...key,
  about: "The key that moves your terminal to the next session that waits for you.",
  usual: '"C-]"',
  example: 'next_key = "F11"',
};

export const RECORDING_LIMIT: Value<number> = {
  about: 'The most bytes that are kept of each run\'s recording. The oldest output goes first. "off" keeps everything.',
  takes: 'a size of at least 2M, or "off"',
  usual: '"64M"',
  example: 'recording_limit = "1G"',
  read: orOff(0, (value) => atLeast(LEAST_RECORDING, sizeBytes(value))),
  isNot: "a size of at least 2M",
};

export const HUNG_AFTER: Value<number> = {
  about: "How long a working agent may show no sign of life before it is reported as hung.",
  takes: 'a duration of at least 1s, or "off"',
  usual: '"10m"',
  example: 'hung_after = "30m"',
  read: orOff(0, (value) => atLeast(1000, durationMs(value))),
  isNot: "a time of at least 1s",
};

export const KEEP_AWAKE: Value<boolean> = {
  about: "Whether the machine is kept awake while an agent works.",
  takes: "true or false",
  usual: "false",
  example: "keep_awake = true",
  read: (value) => (typeof value === "boolean" ? value : undefined),
  isNot: "true or false",
};

export const RESTORE: Value<boolean> = {
  about: "Whether the daemon resumes lost sessions when it starts, for example after a reboot.",
  takes: '"auto" or "off"',
  usual: '"off"',
  example: 'restore = "auto"',
  read: (value) => (value === "auto" ? true : value === "off" ? false : undefined),
  isNot: "auto or off",
};

export const PRUNE = {
  age: {
    about: "Ended sessions that you have looked at are removed after this time.",
    takes: 'a duration, or "off"',
    usual: '"30d"',
    example: 'age = "7d"',
    read: orOff(null, durationMs),
    isNot: "an age",
  } satisfies Value<number | null>,
  conversations: {
    about: "The same for conversations.",
    takes: 'a duration, or "off"',
    usual: '"30d"',
    example: 'conversations = "90d"',
    read: orOff(null, durationMs),
    isNot: "an age",
  } satisfies Value<number | null>,
  size: {
    about: "The most disk space for ended sessions. The oldest that you have looked at are removed first.",
    takes: 'a size, or "off"',
    usual: '"10G"',
    example: 'size = "2G"',
    read: orOff(null, sizeBytes),
    isNot: "a size",
  } satisfies Value<number | null>,
  every: {
    about: "How often the daemon looks for sessions to remove.",
    takes: "a duration from 1s to 1d",
    usual: '"1h"',
    example: 'every = "10m"',
    read: (value: unknown) => (typeof value === "string" ? atLeast(1000, atMost(86_400_000, durationMs(value))) : undefined),
    isNot: "a time between 1s and 1d",
  } satisfies Value<number>,
};

export const GROUP_LIMIT: Value<number> = {
  about: "The most members of a group that has no limit of its own.",
  takes: "a whole number from 1 to 1000",
  usual: String(USUAL_GROUP_LIMIT),
  example: "limit = 16",
  read: (value) => (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_MEMBERS ? Number(value) : undefined),
  isNot: "a number of members from 1 to 1,000",
};

export const MACHINE_KEYS = {
  ssh: {
    about: "The destination for ssh: user@machine, a name of ~/.ssh/config, or ssh://user@machine:port.",
    takes: "a text",
    usual: null,
    example: 'ssh = "me@build.example"',
  },
  command: {
    about: "The holdfast command on that machine, if it is not on the PATH there.",
    takes: "a text",
    usual: null,
    example: 'command = "/opt/holdfast/bin/holdfast"',
  },
} as const satisfies KnownKeys;

/** All keys of a user's config.toml. EACH stands for names that the user chooses. */
export const USER_KEYS: KnownKeys = {
  detach_key: { ...DETACH_KEY },
  next_key: { ...NEXT_KEY },
  recording_limit: { ...RECORDING_LIMIT },
  hung_after: { ...HUNG_AFTER },
  keep_awake: { ...KEEP_AWAKE },
  restore: { ...RESTORE },
  prune: { ...PRUNE },
  groups: { limit: { ...GROUP_LIMIT } },
  budget: { ...BUDGET_KEYS },
  approvals: {
    parents: {
      about: "Whether a session may answer permission requests of the sessions it started.",
      takes: "true or false",
      usual: "true",
      example: "parents = false",
    },
    rules: { ...RULE_KEYS },
  },
  agents: { [BACKGROUND]: { ...BACKGROUND_KEYS }, [EACH]: { ...AGENT_KEYS } },
  mcp: { [OWN_SERVER]: OWN_SERVER_SETTING, [EACH]: { ...MCP_KEYS } },
  prices: { [EACH]: { ...PRICE_KEYS } },
  machines: { [EACH]: { ...MACHINE_KEYS } },
};

export const PROJECT_KEYS: KnownKeys = { workspace: { ...WORKSPACE_KEYS } };

/** Tables that are written as lists: [[approvals.rules]]. */
export const LISTS: readonly string[] = ["approvals.rules", "agents.NAME.screen"];

export interface NamedSetting extends Setting {
  /** Full name, with its tables: `prune.age`, `agents.NAME.command`. */
  key: string;
}

export function settingsOf(known: KnownKeys, prefix = ""): NamedSetting[] {
  return Object.entries(known).flatMap(([name, inside]) => {
    const path = prefix + (name === EACH ? (prefix === "prices." ? "MODEL" : "NAME") : name);
    if (!isSetting(inside)) return settingsOf(inside, `${path}.`);
    const { about, takes, usual, example } = inside;
    return [{ key: path, about, takes, usual, example }];
  });
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
