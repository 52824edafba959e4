/** A command: its declaration, which help and completion read, and its action. */

import type { Home } from "@holdfast/platform/home";
import type { HoldfastClient } from "@holdfast/sdk/client";

export interface Flag {
  /** Placeholder of the value in help (`--name NAME`). Absent for a switch. */
  value?: string;
  /** The value is optional: `--worktree`, `--worktree BRANCH`, `--worktree=BRANCH`. Without a value, `text()` returns "". */
  optional?: boolean;
  short?: string;
  multiple?: boolean;
  summary: string;
  /** Completion candidates for the value. */
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
  /** Synopsis after the command's name: `NAME… [--grace 5s]`. */
  usage: string;
  description?: string;
  flags: Readonly<Record<string, Flag>>;
  examples: readonly (readonly [command: string, what: string])[];
  /** Completion candidates for arguments. */
  arguments?: Completion;
  /** Passes everything from the first argument on unchanged (`run npm test --watch`). */
  passesOn?: boolean;
  /** Passes on the arguments after `--` (`spawn demo -- --fast`). Without this or `passesOn` they are refused. */
  takesRest?: boolean;
  /** Only reads. Where no daemon can run (a full disk, a read-only home), the command reads the stored state without one. */
  onlyReads?: boolean;
  /** Finds or stops sessions, so it works even when config.toml is invalid. */
  stops?: boolean;
  /** Prints only JSON, even without --json. */
  printsJson?: boolean;
  /** Shows a terminal, live or recorded, unchanged. */
  showsTerminal?: boolean;
  /** Sends long output to a pager on a terminal. */
  pages?: (line: { args: readonly string[]; flags: Flags }) => boolean;
  /** Hidden from the list of commands. */
  hidden?: boolean;
  /** Verbs that are commands of their own (`workspace merge`). With no verb, or only flags, the first verb runs. */
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

/** Values of flags. An undeclared flag reads as absent. */
export interface Flags {
  text(name: string): string | undefined;
  list(name: string): string[];
  has(name: string): boolean;
}

export const JSON_FLAG: Flag = { summary: "print JSON" };

/** Flags of commands that take several sessions. */
export const SELECTION_FLAGS = {
  all: { summary: "all sessions" },
  status: { value: "STATUS", summary: "sessions with this status (comma-separated)", multiple: true, complete: "statuses" },
  agent: { value: "AGENT", summary: "sessions of this agent (comma-separated)", multiple: true, complete: "agents" },
} as const satisfies Record<string, Flag>;
