import { HoldfastError } from "@holdfast/contract/errors";
import { readJsonFile } from "@holdfast/platform/files";
import type { Home } from "@holdfast/platform/home";
import { isSameProcess, signalProcess } from "@holdfast/platform/process";
import { actingIn } from "@holdfast/sdk/acting";
import { connectRunning, isNotListening, isRefused } from "./connect.ts";

/** A daemon that does not answer a request to end within this time is ended by signal. */
const ANSWER_MS = 5000;
const EXIT_MS = 10_000;

/** Ends the daemon that runs, if one does; returns when its process is gone. Sessions keep running. */
export async function endDaemon(home: Home, options: { why: "asked" | "replaced" }): Promise<{ pid: number } | undefined> {
  const recorded = recordedDaemon(home);
  using client = connectRunning(home);
  try {
    const { pid } = await client.call("shutdown", { body: { why: options.why } }, AbortSignal.timeout(ANSWER_MS));
    if (await gone(recorded?.pid === pid ? recorded : { pid, start: undefined })) return { pid };
    if (recorded?.pid !== pid) throw stillThere(pid);
  } catch (error) {
    if (options.why === "replaced" && (error as HoldfastError).code === "usage") return undefined;
    // Who acts with a token may do what the daemon lets it do; a signal would go around that.
    if (isRefused(error)) throw error;
    if (recorded && actingIn(process.env).token) throw isTimeout(error) ? silent() : error;
    if (!recorded && isNotListening(error)) return undefined;
    if (!recorded) throw isTimeout(error) ? silent() : error;
  }
  // It holds the home but does not answer, or does not end: it is still that very process, so it can be told by signal.
  signalProcess(recorded.pid, recorded.start, "SIGTERM");
  if (!(await gone(recorded, ANSWER_MS))) signalProcess(recorded.pid, recorded.start, "SIGKILL");
  if (!(await gone(recorded))) throw stillThere(recorded.pid);
  return { pid: recorded.pid };
}

/** Ends a daemon that runs but does not answer; one that answers, or none, is left as it is. */
export async function endHungDaemon(home: Home): Promise<void> {
  using client = connectRunning(home);
  try {
    await client.call("status", {}, AbortSignal.timeout(ANSWER_MS));
  } catch (error) {
    if (isTimeout(error)) await endDaemon(home, { why: "asked" });
  }
}

/** Nothing but the time that was given breaks these calls off. */
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

/** Waits for a process that said it would end; false when it is still there. */
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
