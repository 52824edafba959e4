/** Shared by `run` and `spawn`: the caller's directory and environment, and the output about the new session. */
import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { HOSTS, RESTARTS } from "@holdfast/contract/session/status";
import { sizeBytes } from "@holdfast/platform/units";
import type { Context, Flag, Flags } from "../command.ts";
import { plain } from "../text/plain.ts";
import { BUDGET_FLAG, parseBudget } from "../usage/budget-flag.ts";
import { withProgress } from "../workspace/progress.ts";
import { TRUST_FLAG } from "../workspace/trusting.ts";

export const START_FLAGS = {
  name: { value: "NAME", summary: "name of the session (default: two readable words)", complete: "nothing" },
  cwd: { value: "DIR", summary: "working directory (default: the current one)", complete: "directories" },
  worktree: {
    value: "BRANCH",
    optional: true,
    summary: "work in a new git worktree on this branch (default: holdfast/NAME); see holdfast workspace",
    complete: "nothing",
  },
  base: { value: "REF", summary: "with --worktree: start the branch here (default: the checked-out commit)", complete: "nothing" },
  "no-setup": { summary: "with --worktree: skip the project's setup command" },
  trust: TRUST_FLAG,
  workspace: { value: "NAME", summary: "work in this workspace, instead of --cwd", complete: "workspaces" },
  env: {
    value: "K=V",
    summary: "set an environment variable, in addition to yours; K alone passes your value",
    multiple: true,
    complete: "nothing",
  },
  host: { value: "HOST", summary: "host that keeps the session running: tmux (default if installed) or native", complete: "hosts" },
  restart: {
    value: "POLICY",
    summary: "restart the program when it ends: never (default), on-failure, always",
    complete: "restarts",
  },
  memory: { value: "SIZE", summary: "limit the total memory of the session's processes: 500M, 2G", complete: "nothing" },
  "recording-limit": {
    value: "SIZE",
    summary: "keep only the newest output of each run, up to this size: 64M (default), 1G, off",
    complete: "nothing",
  },
  budget: BUDGET_FLAG,
  group: {
    value: "GROUP",
    summary: "join this group; an agent learns its peers (see holdfast group)",
    multiple: true,
    complete: "groups",
  },
  role: { value: "TEXT", summary: "role of the session, a note for people", complete: "nothing" },
  objective: { value: "TEXT", summary: "objective of the session, a note for people", complete: "nothing" },
} as const satisfies Record<string, Flag>;

/** `notes`: about a worktree made for it. Absent in a daemon of an older version. */
type StartedSession = Session & { notes?: string[] };

export async function startSession(
  context: Context,
  what: {
    agent: string;
    command?: string[];
    args?: string[];
    prompt?: string | undefined;
    persona?: string | undefined;
    chat?: boolean;
    /** A person is at the terminal. */
    attended?: boolean | undefined;
    model?: string | undefined;
    mode?: string | undefined;
    /** False: record the session only; `holdfast start` starts it. */
    start?: boolean;
  },
): Promise<StartedSession> {
  const { flags, client } = context;
  const worktree = worktreeOf(flags);
  const start = () => client.call("spawn", { body });
  const body = { ...what, ...startFlags(flags), worktree, workspace: flags.text("workspace") };
  return worktree ? withProgress(context, start) : start();
}

/** The values of the flags that every start has. */
export function startFlags(flags: Flags) {
  return {
    name: flags.text("name"),
    cwd: resolve(flags.text("cwd") ?? "."),
    env: { ...callerEnvironment(), ...environmentOf(flags) },
    umask: process.umask(),
    host: oneOf(flags.text("host"), { flag: "--host", words: HOSTS }),
    restart: oneOf(flags.text("restart"), { flag: "--restart", words: RESTARTS }),
    memoryLimitBytes: bytesOf(flags.text("memory")),
    recordingLimitBytes: recordingLimit(flags.text("recording-limit")),
    budget: parseBudget(flags.text("budget")),
    report: flags.has("no-report") ? false : flags.has("report") ? true : undefined,
    context: flags.has("no-context") ? false : undefined,
    groups: groupsOf(flags),
    role: flags.text("role"),
    objective: flags.text("objective"),
  };
}

/** Variables of `--env`; undefined if there are none. */
export function environmentOf(flags: Flags): Record<string, string> | undefined {
  const given = flags.list("env");
  return given.length === 0 ? undefined : Object.fromEntries(given.map(assignment));
}

export function groupsOf(flags: Flags): string[] | undefined {
  const groups = flags.list("group").flatMap((value) => value.split(","));
  return groups.length === 0 ? undefined : groups;
}

export function worktreeOf(flags: Flags): { branch?: string | undefined; base?: string | undefined; setup: boolean } | undefined {
  const branch = flags.text("worktree");
  const [base, setup] = [flags.text("base"), !flags.has("no-setup")];
  if (branch !== undefined) return { branch: branch === "" ? undefined : branch, base, setup };
  if (base === undefined && setup) return undefined;
  throw new HoldfastError("usage", `${base === undefined ? "--no-setup" : "--base"} needs --worktree`, { hint: "add --worktree" });
}

/** Prints the id on standard output, for scripts. Text for people goes to standard error and, except for notes, only to a terminal. */
export function printStarted(session: StartedSession, json: boolean): void {
  process.stdout.write(json ? `${JSON.stringify(session)}\n` : `${session.id}\n`);
  if (!json) printNotes(session.notes);
  if (json || !process.stderr.isTTY) return;
  const where = session.workspace?.branch ? ` on the branch ${plain(session.workspace.branch)}` : "";
  const { name, kind, status } = session;
  if (status === "created") {
    process.stderr.write(`${plain(name)} is created${where}. Start: holdfast start ${plain(name)}\n`);
    return;
  }
  const look =
    kind === "conversation"
      ? `Talk: holdfast chat ${name}   Read: holdfast transcript ${name}`
      : `Attach: holdfast attach ${name}   Read: holdfast logs ${name}`;
  process.stderr.write(`${plain(name)} is running${where}. ${look}\n`);
}

/** Notes about a start. A daemon of an older version sends none. */
export function printNotes(notes: Iterable<string> = []): void {
  for (const note of notes) process.stderr.write(`note: ${plain(note)}\n`);
}

function oneOf<T extends string>(text: string | undefined, { flag, words }: { flag: string; words: readonly T[] }): T | undefined {
  const word = words.find((known) => known === text);
  if (text === undefined || word !== undefined) return word;
  throw new HoldfastError("usage", `${flag} does not take ${JSON.stringify(text)}`, { candidates: [...words] });
}

function bytesOf(text: string | undefined): number | undefined {
  const bytes = text === undefined ? undefined : sizeBytes(text);
  if (text === undefined || bytes !== undefined) return bytes;
  throw new HoldfastError("usage", `--memory takes a size, not ${JSON.stringify(text)}`, { hint: "for example: 500M or 2G" });
}

/** Recordings are cut by the megabyte, and the growing segment stays, so two are the minimum. */
const LEAST_RECORDING = 2 * 2 ** 20;

function recordingLimit(text: string | undefined): number | undefined {
  const bytes = text === "off" ? 0 : text === undefined ? undefined : (sizeBytes(text) ?? -1);
  if (text === undefined || bytes === 0 || (bytes ?? 0) >= LEAST_RECORDING) return bytes;
  throw new HoldfastError("usage", `--recording-limit takes a size of at least 2 MB, not ${JSON.stringify(text)}`, {
    hint: "for example: 64M, 1G, or off to keep everything",
  });
}

/** Includes the umask, which the daemon lacks when it creates files in the caller's directories. */
export function callerEnvironment(): Record<string, string> {
  const own = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(own), HOLDFAST_UMASK: process.umask().toString(8) };
}

/** Parses `NAME=VALUE`, or `NAME` to copy the caller's value, which keeps a secret out of the process list. */
function assignment(text: string): [string, string] {
  const [, name = "", value] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?$/s.exec(text) ?? [];
  const found = value ?? process.env[name];
  if (name !== "" && found !== undefined) return [name, found];
  const why = name === "" ? `--env takes NAME=VALUE, not ${JSON.stringify(text)}` : `--env ${name}: the variable is not set`;
  throw new HoldfastError("usage", why, { hint: "for example: --env PORT=3000; --env PORT alone passes your own value" });
}
