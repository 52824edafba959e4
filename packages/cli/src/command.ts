/** What a command is: a declaration (which help and completion read) and what it does. */

import type { Home } from "@holdfast/platform/home";
import type { HoldfastClient } from "@holdfast/sdk/client";

export interface Flag {
  /** With a value (`--name NAME`): what to call it in help. Without: a switch. */
  value?: string;
  /** The value may be left out: `--worktree`, `--worktree BRANCH`, `--worktree=BRANCH`. `text()` is then "". */
  optional?: boolean;
  short?: string;
  multiple?: boolean;
  summary: string;
  /** What completion offers for the value. */
  complete?: Completion;
}

export type Completion =
  | "sessions"
  | "agents"
  | "personas"
  | "statuses"
  | "hosts"
  | "restarts"
  | "shells"
  | "scopes"
  | "token-verbs"
  | "boot-verbs"
  | "waits"
  | "messages"
  | "approvals"
  | "workspaces"
  | "checkpoints"
  | "context-files"
  | "usage-by"
  | "budget-limits"
  | "tournaments"
  | "entries"
  | "removed-workspaces"
  | "trusted"
  | "groups"
  | "group-sessions"
  | "group-members"
  | "group-keys"
  | "directories"
  | "files"
  | "nothing";

export interface Command {
  name: string;
  summary: string;
  /** What follows the command's name: `NAME… [--grace 5s]`. */
  usage: string;
  description?: string;
  flags: Readonly<Record<string, Flag>>;
  examples: readonly (readonly [command: string, what: string])[];
  /** What completion offers for arguments. */
  arguments?: Completion;
  /** Everything from the first argument on is passed on untouched (`run npm test --watch`). */
  passesOn?: boolean;
  /** What follows `--` is passed on (`spawn demo -- --fast`); without this or `passesOn` it is refused. */
  takesRest?: boolean;
  /** Only asks: where no daemon can run (a full disk, a read-only home), what was last written down is read without one. */
  onlyReads?: boolean;
  /** Finds or ends what runs: it goes on where config.toml makes no sense. */
  stops?: boolean;
  /** All that it prints is JSON, also without --json. */
  printsJson?: boolean;
  /** It shows a terminal as it is, or was. */
  showsTerminal?: boolean;
  /** Long output goes through a pager on a terminal. */
  pages?: (line: { args: readonly string[]; flags: Flags }) => boolean;
  /** Not in the list of commands. */
  hidden?: boolean;
  /** Its verbs are commands of their own (`workspace merge`); without one, or with only flags, it is the first. */
  verbs?: Readonly<Record<string, () => Promise<{ command: Command }>>>;
  run(context: Context): Promise<number | undefined>;
}

export interface Context {
  /** Arguments before `--`. */
  args: readonly string[];
  /** Arguments after `--`. */
  rest: readonly string[];
  flags: Flags;
  json: boolean;
  home: Home;
  /** Starts the daemon when a request needs it. */
  client: HoldfastClient;
}

/** Values of flags; a flag that the command did not declare cannot be asked for. */
export interface Flags {
  text(name: string): string | undefined;
  list(name: string): string[];
  has(name: string): boolean;
}

export const JSON_FLAG: Flag = { summary: "print JSON" };

/** Flags of every verb that takes several sessions. */
export const SELECTION_FLAGS = {
  all: { summary: "all sessions" },
  status: { value: "STATUS", summary: "sessions with this status (comma-separated)", multiple: true, complete: "statuses" },
  agent: { value: "AGENT", summary: "sessions of this agent (comma-separated)", multiple: true, complete: "agents" },
} as const satisfies Record<string, Flag>;
