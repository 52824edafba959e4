/**
 * The project's own command in a new workspace, before anybody works there. A process of its own: it goes on when the daemon dies, all that
 * it says is in `setup.log`, and how it ended in `setup.exit`, where the next daemon finds it.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { inspect, readJsonFile, writeFileAtomic } from "@holdfast/platform";

export interface SetupEnd {
  state: "done" | "failed" | "interrupted";
  exitCode: number | null;
}

/** How often one whose end would be told by its file alone is asked for: it may have been killed together with its shell. */
const LOOK_MS = 5000;

const LOG = "setup.log";
const EXIT = "setup.exit";
const PROCESS = "setup.pid";

export function setupLog(directory: string): string {
  return join(directory, LOG);
}

/** Starts it; returns once it runs. `directory` holds its files, `tree` is where it works. */
export function startSetup(
  directory: string,
  { tree, command, env, umask }: { tree: string; command: string; env: Readonly<Record<string, string>>; umask: number },
): void {
  for (const name of [EXIT, PROCESS]) rmSync(join(directory, name), { force: true });
  const log = openSync(setupLog(directory), "w", 0o600);
  try {
    // The outer shell outlives whatever the command does, `exec` and `exit` among it.
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

/** Resolves when it has ended, whoever started it. */
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
      // Without a watch the timer sees it.
    }
    look();
  });
}

/** How long it has to end by itself. */
const GRACE_MS = 5000;

/** Ends it, with all that it started in its process group. */
export async function stopSetup(directory: string): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const deadline = performance.now() + GRACE_MS;
    const pid = processOf(directory);
    if (pid === undefined) return;
    process.kill(-pid, signal);
    while (processOf(directory) !== undefined && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** As much of its end as a few lines need: some say gigabytes. */
const TAIL_BYTES = 16_384;

/** The last lines of what it said. */
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

/** Of the process that was started, as long as it is that one. */
function processOf(directory: string): number | undefined {
  const { pid, start } = (readJsonFile(join(directory, PROCESS)) ?? {}) as { pid?: number; start?: string };
  return pid !== undefined && inspect(pid)?.start === start ? pid : undefined;
}
