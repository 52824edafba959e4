/**
 * A command in a workspace, to see what it is worth: tests, a linter. It runs in a process group of its own, below whoever asked: when they go, it ends.
 * All that it says is in `check.log` beside the worktree, and how it ended in `check.json`; of one whose daemon died meanwhile nobody knows how it
 * ended. The last one counts.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Check, Check as Schema } from "@holdfast/contract";
import { inspect, readJsonFile, writeFileAtomic } from "@holdfast/platform";

const FILE = "check.json";
const LOG = "check.log";

/** Between the wish that it ends and the end of its patience. */
const GRACE_MS = 2000;

type Process = { pid: number; start: string | undefined };

export interface CheckOrder {
  /** Holds its files. */
  directory: string;
  /** Where it runs. */
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

/** The last one that was run there; null: none. */
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

/** A check may have started servers: its whole group goes. */
function endGroupAt(pid: number, signal: AbortSignal): Disposable {
  let last: NodeJS.Timeout | undefined;
  const kill = (how: NodeJS.Signals) => {
    try {
      process.kill(-pid, how);
    } catch {
      // It is gone already.
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
      // What it left running in the background would hold the workspace's ports and files.
      kill("SIGKILL");
    },
  };
}
