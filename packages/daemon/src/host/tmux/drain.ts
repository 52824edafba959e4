/**
 * The end of a recording. A dead pane may still have bytes on their way: in the server's buffer for the pipe, then in the
 * pipe, then in the recorder. Removing the pane drops what is in the server's buffer, so removal waits until nothing moves.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { inspect, isSameProcess, type ProcessInfo } from "@holdfast/platform";

/** A recorder that is stuck (a disk that does not answer) must not hold the end of a run for ever. */
const PATIENCE_MS = 30_000;
const STEP_MS = 4;

export function recorderOf(directory: string): ProcessInfo | undefined {
  try {
    return inspect(Number(readFileSync(join(directory, "recorder"), "utf8")));
  } catch {
    return undefined;
  }
}

/**
 * Resolves when the recorder has everything. Twice in a row, around a turn of the server's event loop (in which it writes
 * what the pipe takes): the recorder sleeps, so its pipe is empty, and the files have not grown.
 */
export async function drained(directory: string, turnOfTheServer: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let calm = 0;
  let size = -1;
  while (calm < 2 && performance.now() < deadline) {
    await turnOfTheServer();
    const recorder = recorderOf(directory);
    if (!recorder || recorder.zombie) return;
    const now = recordedBytes(directory);
    calm = recorder.sleeping && now === size ? calm + 1 : 0;
    size = now;
    if (calm < 2) await delay(STEP_MS);
  }
}

/** After the pane is gone the recorder reads the end of its pipe and exits. */
export async function recorderGone(recorder: ProcessInfo | undefined): Promise<void> {
  if (!recorder) return;
  const deadline = performance.now() + PATIENCE_MS;
  while (isSameProcess(recorder.pid, recorder.start) && performance.now() < deadline) await delay(STEP_MS);
}

function recordedBytes(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory)) {
    if (name.startsWith("output")) bytes += statSync(join(directory, name)).size;
  }
  return bytes;
}
