/**
 * Runs a command that tests a workspace, such as a test suite or a linter. The check has its own process group and ends when its caller goes away.
 * Its output is in `check.log` beside the worktree, its result in `check.json`. If the daemon dies during a check, the check counts as interrupted.
 * Only the last check is kept.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Check, Check as Schema } from "@holdfast/contract";
import { inspect, readJsonFile, writeFileAtomic } from "@holdfast/platform";

const FILE = "check.json";
const LOG = "check.log";

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 2000;

type Process = { pid: number; start: string | undefined };

export interface CheckOrder {
  /** The directory that holds `check.log` and `check.json`. */
  directory: string;
  /** The working tree that the command runs in. */
  tree: string;
  command: string;
  env: Readonly<Record<string, string>>;
  umask: number;
}

export async function runCheck({ directory, tree, command, env, umask }: CheckOrder, signal: AbortSignal): Promise<Check> {
  const began = performance.now();
  const log = join(directory, LOG);
  const startedAt = new Date().toISOString();
  const running: Check = { command, state: "running", exitCode: null, durationMs: null, startedAt, log };
  rmSync(log, { force: true });
  const output = openSync(log, "w", 0o600);
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | null>();
  const child = spawn("/bin/sh", ["-c", 'umask "$1" && exec /bin/sh -c "$2"', "sh", umask.toString(8), command], {
    cwd: tree,
    env,
    detached: true,
    stdio: ["ignore", output, output],
  });
  child.on("error", reject).on("close", (code) => resolve(code));
  closeSync(output);
  const group = child.pid === undefined ? undefined : endGroupAt(child.pid, signal);
  try {
    if (child.pid !== undefined) write(directory, running, { pid: child.pid, start: inspect(child.pid)?.start });
    const exitCode = await ended;
    const state = signal.aborted || exitCode === null ? "interrupted" : exitCode === 0 ? "passed" : "failed";
    const check: Check = { ...running, state, exitCode, durationMs: Math.round(performance.now() - began) };
    write(directory, check);
    return check;
  } finally {
    group?.[Symbol.dispose]();
  }
}

/** Returns the workspace's last check, or null if there was none. */
export function lastCheck(directory: string): Check | null {
  const { process: by, ...file } = (readJsonFile(join(directory, FILE)) ?? {}) as { process?: Process };
  const check = Schema.safeParse(file);
  if (!check.success) return null;
  const lives = by !== undefined && by.start !== undefined && inspect(by.pid)?.start === by.start;
  return check.data.state === "running" && !lives ? { ...check.data, state: "interrupted" } : check.data;
}

function write(directory: string, check: Check, process?: Process): void {
  writeFileAtomic(join(directory, FILE), `${JSON.stringify({ ...check, ...(process ? { process } : {}) })}\n`);
}

/** Ends the whole process group, because a check may have started servers. */
function endGroupAt(pid: number, signal: AbortSignal): Disposable {
  let last: NodeJS.Timeout | undefined;
  const kill = (how: NodeJS.Signals) => {
    try {
      process.kill(-pid, how);
    } catch {
      // The group is already gone.
    }
  };
  const end = () => {
    kill("SIGTERM");
    last = setTimeout(() => kill("SIGKILL"), GRACE_MS);
  };
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return {
    [Symbol.dispose]() {
      signal.removeEventListener("abort", end);
      clearTimeout(last);
      // Background processes of the check would hold the workspace's ports and files.
      kill("SIGKILL");
    },
  };
}
