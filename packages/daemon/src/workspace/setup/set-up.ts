/**
 * Runs the project's set-up command in a new workspace, before any work starts. It is a separate process that survives the daemon: its output is in
 * `setup.log`, and its exit code in `setup.exit`, where the next daemon finds it.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { inspect, readJsonFile, writeFileAtomic } from "@holdfast/platform";

export interface SetupEnd {
  state: "done" | "failed" | "interrupted";
  exitCode: number | null;
}

/** Interval of a check for a process that was killed together with its shell and wrote no exit file. */
const LOOK_MS = 5000;

const LOG = "setup.log";
const EXIT = "setup.exit";
const PROCESS = "setup.pid";

export function setupLog(directory: string): string {
  return join(directory, LOG);
}

/** Starts the command and returns. `directory` holds its files; `tree` is its working directory. */
export function startSetup(
  directory: string,
  { tree, command, env, umask }: { tree: string; command: string; env: Readonly<Record<string, string>>; umask: number },
): void {
  for (const name of [EXIT, PROCESS]) rmSync(join(directory, name), { force: true });
  const log = openSync(setupLog(directory), "w", 0o600);
  try {
    // The outer shell survives whatever the command does, including `exec` and `exit`.
    const script = `(umask "$3"; exec sh -c "$1"); code=$?; echo $code > "$2.new" && mv "$2.new" "$2"; exit $code`;
    const child = spawn("/bin/sh", ["-c", script, "sh", command, join(directory, EXIT), umask.toString(8)], {
      cwd: tree,
      env,
      detached: true,
      stdio: ["ignore", log, log],
    });
    child.on("error", () => {});
    child.unref();
    if (child.pid === undefined) return;
    writeFileAtomic(join(directory, PROCESS), `${JSON.stringify({ pid: child.pid, start: inspect(child.pid)?.start })}\n`);
  } finally {
    closeSync(log);
  }
}

/** Resolves when the set-up has ended, even if an earlier daemon started it. */
export function setupEnd(directory: string, signal?: AbortSignal): Promise<SetupEnd> {
  return new Promise((resolve, reject) => {
    const stop = new AbortController();
    const look = () => {
      const end = endOf(directory) ?? (isAlive(directory) ? undefined : (endOf(directory) ?? INTERRUPTED));
      if (!end) return;
      stop.abort();
      clearInterval(timer);
      resolve(end);
    };
    const timer = setInterval(look, LOOK_MS);
    timer.unref();
    signal?.addEventListener("abort", () => {
      stop.abort();
      clearInterval(timer);
      reject(signal.reason as Error);
    });
    try {
      watch(directory, { signal: stop.signal, persistent: false }, look).on("error", () => {});
    } catch {
      // Without a watch, the timer finds the end.
    }
    look();
  });
}

/** Wait after each signal. */
const GRACE_MS = 5000;

/** Ends the set-up and its whole process group. */
export async function stopSetup(directory: string): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const deadline = performance.now() + GRACE_MS;
    const pid = processOf(directory);
    if (pid === undefined) return;
    process.kill(-pid, signal);
    while (processOf(directory) !== undefined && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Enough for a few lines; some logs have gigabytes. */
const TAIL_BYTES = 16_384;

/** Returns the last lines of the log. */
export function setupTail(directory: string, lines: number): string {
  try {
    const log = openSync(setupLog(directory), "r");
    try {
      const from = Math.max(0, fstatSync(log).size - TAIL_BYTES);
      const end = Buffer.alloc(TAIL_BYTES);
      const said = end.toString("utf8", 0, readSync(log, end, 0, TAIL_BYTES, from));
      return said.trimEnd().split("\n").slice(-lines).join("\n");
    } finally {
      closeSync(log);
    }
  } catch {
    return "";
  }
}

const INTERRUPTED: SetupEnd = { state: "interrupted", exitCode: null };

function endOf(directory: string): SetupEnd | undefined {
  if (!existsSync(join(directory, EXIT))) return undefined;
  const text = readFileSync(join(directory, EXIT), "utf8");
  if (!/^\d{1,3}\n?$/.test(text)) return INTERRUPTED;
  const exitCode = Number.parseInt(text, 10);
  return { state: exitCode === 0 ? "done" : "failed", exitCode };
}

function isAlive(directory: string): boolean {
  return processOf(directory) !== undefined;
}

/** Returns the pid, as long as it is still the process that was started. */
function processOf(directory: string): number | undefined {
  const { pid, start } = (readJsonFile(join(directory, PROCESS)) ?? {}) as { pid?: number; start?: string };
  return pid !== undefined && inspect(pid)?.start === start ? pid : undefined;
}
