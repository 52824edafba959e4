import { HoldfastError } from "@holdfast/contract/errors";
import { readJsonFile } from "@holdfast/platform/files";
import type { Home } from "@holdfast/platform/home";
import { isSameProcess, signalProcess } from "@holdfast/platform/process";
import { actingIn } from "@holdfast/sdk/acting";
import { connectRunning, isNotListening, isRefused } from "./running.ts";

/** A daemon that does not answer the shutdown request within this time is ended by signal. */
const ANSWER_MS = 5000;
const EXIT_MS = 10_000;

/** Ends the running daemon, if any, and returns when its process is gone. Sessions keep running. */
export async function endDaemon(home: Home, options: { why: "asked" | "replaced" }): Promise<{ pid: number } | undefined> {
  const recorded = recordedDaemon(home);
  using client = connectRunning(home);
  try {
    const { pid } = await client.call("shutdown", { body: { why: options.why } }, AbortSignal.timeout(ANSWER_MS));
    if (await gone(recorded?.pid === pid ? recorded : { pid, start: undefined })) return { pid };
    if (recorded?.pid !== pid) throw stillThere(pid);
  } catch (error) {
    if (options.why === "replaced" && (error as HoldfastError).code === "usage") return undefined;
    // A token may only do what the daemon allows; a signal would bypass that.
    if (isRefused(error)) throw error;
    if (recorded && actingIn(process.env).token) throw isTimeout(error) ? silent() : error;
    if (!recorded && isNotListening(error)) return undefined;
    if (!recorded) throw isTimeout(error) ? silent() : error;
  }
  // The daemon holds the home but does not answer or end. The record still identifies its process, so a signal is safe.
  signalProcess(recorded.pid, recorded.start, "SIGTERM");
  if (!(await gone(recorded, ANSWER_MS))) signalProcess(recorded.pid, recorded.start, "SIGKILL");
  if (!(await gone(recorded))) throw stillThere(recorded.pid);
  return { pid: recorded.pid };
}

/** Ends a daemon that runs but does not answer. Leaves a daemon that answers alone. */
export async function endHungDaemon(home: Home): Promise<void> {
  using client = connectRunning(home);
  try {
    await client.call("status", {}, AbortSignal.timeout(ANSWER_MS));
  } catch (error) {
    if (isTimeout(error)) await endDaemon(home, { why: "asked" });
  }
}

/** Only the given timeout aborts these calls. */
function isTimeout(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === "aborted";
}

function silent(): HoldfastError {
  return new HoldfastError("daemon_unreachable", "a daemon listens but does not answer, and its process is unknown", {
    hint: "find it: ps -ef | grep daemon.mjs",
  });
}

function stillThere(pid: number): HoldfastError {
  return new HoldfastError("daemon_unreachable", `the daemon (pid ${pid}) does not stop`, { hint: `look at it: ps -p ${pid}` });
}

/** Waits for a process to end. False if it is still alive. */
export async function gone(daemon: { pid: number; start: string | undefined }, patienceMs = EXIT_MS): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (alive(daemon)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}

function alive({ pid, start }: { pid: number; start: string | undefined }): boolean {
  if (start !== undefined) return isSameProcess(pid, start);
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export function recordedDaemon(home: Home): { pid: number; start: string } | undefined {
  const file = readJsonFile(home.daemonFile) as { pid?: unknown; start?: unknown } | undefined;
  if (typeof file?.pid !== "number" || typeof file.start !== "string" || !isSameProcess(file.pid, file.start)) return undefined;
  return { pid: file.pid, start: file.start };
}
