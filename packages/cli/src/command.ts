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

/** Sections of `holdfast --help`, in this order. */
export const SECTIONS = [
  "Start agents and commands",
  "Watch sessions",
  "Attach to a session",
  "Send and answer",
  "Read output",
  "Work together",
  "Workspaces",
  "Stop and resume",
  "Administration",
] as const;

/** What help, completion and `-H` read. */
export interface Declaration {
  name: string;
  summary: string;
  /** Absent for verbs and hidden commands. */
  section?: (typeof SECTIONS)[number];
  /** Synopsis after the command's name: `NAME… [--grace 5s]`. */
  usage: string;
  description?: string;
  flags?: Readonly<Record<string, Flag>>;
  /** Flags that people type although the command lacks them, and the command line that does it. */
  instead?: Readonly<Record<string, (argv: readonly string[]) => readonly string[]>>;
  /** For a command without arguments: the hint for somebody who passes one. */
  withArgument?: (word: string) => string;
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
  /** Only prints, so a remote machine gives it no terminal: typed input belongs to the calling shell. */
  onlyPrints?: boolean;
  /** Starts programs, so on a remote machine it gets the environment of a login shell. */
  startsPrograms?: boolean;
  /** Keeps printing, and survives a broken connection to a remote machine. */
  follows?: (line: Line) => boolean;
  /** Is about this program, and runs here even with -H. */
  runsHere?: boolean;
  /** Runs often and leaves nothing pending, so the process exits without an orderly shutdown. */
  endsAtOnce?: boolean;
  /** Sends long output to a pager on a terminal. */
  pages?: (line: Line) => boolean;
  /** Hidden from the list of commands. */
  hidden?: boolean;
  /** Verbs that are commands of their own (`workspace merge`). */
  verbs?: Commands<Command>;
}

export interface Command extends Declaration {
  run(context: Context): Promise<number | undefined>;
}

/** Only has verbs. Without one, or with only flags, the first verb runs. */
export interface Noun extends Declaration {
  verbs: Commands<Command>;
  run?: never;
}

/** Each command is loaded only when needed. */
export type Commands<C = Command | Noun> = Readonly<Record<string, () => Promise<{ command: C }>>>;

/** A parsed command line: arguments before `--`, and flags. */
export interface Line {
  args: readonly string[];
  flags: Flags;
}

export interface Context extends Line {
  /** Arguments after `--`. */
  rest: readonly string[];
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
