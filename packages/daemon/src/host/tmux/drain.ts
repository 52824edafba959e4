/**
 * The end of a recording. A dead pane may still have bytes in transit: in the server's buffer for the pipe, in the pipe, or in the recorder.
 * Removing the pane drops the server's buffer, so removal waits until nothing moves.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { allProcesses, argumentsOf, inspect, isMissing, isSameProcess, type ProcessInfo, writeFileAtomic } from "@holdfast/platform";

/** A stuck recorder (an unresponsive disk) must not block the end of a run forever. */
const PATIENCE_MS = 30_000;
/** On an overloaded machine a recorder may start this much later than its program. */
const START_MS = 5000;
const STEP_MS = 4;
const CALM_LOOKS = 6;
const RECORDER = "recorder";
/** The shell that writes its pid, and the program that replaces it. */
const RECORDERS = new Set(["sh", "split", "dash", "bash"]);

/** Checks the process name: the file may be old and its pid reused. */
export function recorderOf(directory: string): ProcessInfo | undefined {
  const info = inspect(recorderPid(directory));
  return info && RECORDERS.has(info.name) ? info : undefined;
}

/** tmux notices a recorder's death only when it writes to the pipe, and then loses that output. */
export function recorderDied(directory: string): boolean {
  if (recorderPid(directory) === 0 || recorderOf(directory)) return false;
  const found = findRecorder(directory);
  if (found) writeFileAtomic(join(directory, RECORDER), `${found.pid}\n`);
  return found === undefined;
}

/** Finds a recorder whose file is damaged, by the output path in its arguments. */
function findRecorder(directory: string): ProcessInfo | undefined {
  const recorders = [...allProcesses().values()].filter(({ name, zombie }) => RECORDERS.has(name) && !zombie);
  return recorders.find((info) => recordsTo(directory, info));
}

/** True if the process records to this directory. False for another process that has reused the pid. */
export function recordsTo(directory: string, { pid }: ProcessInfo): boolean {
  return argumentsOf(pid).some((word) => word.startsWith(`${directory}/output`));
}

/** Why and when the recorder failed, in its own words or clearer ones; undefined if it wrote nothing. */
export function recorderSaid(directory: string): { why: string; at: number } | undefined {
  const path = join(directory, RECORDER);
  const [said = ""] = recorderText(directory).split("\n").slice(1);
  const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (said === "" || at === undefined) return undefined;
  const known = REASONS.find(([pattern]) => pattern.test(said));
  return { why: known?.[1] ?? `the recorder had ended: ${said}`, at: Math.round(at) };
}

const REASONS: readonly [RegExp, string][] = [
  [/No space left on device|Disk quota exceeded/, "the disk was full"],
  [/Read-only file system/, "the disk was read-only"],
];

/** A recorder writes its pid first. Its replacement starts with a fresh file. */
export function forgetRecorder(directory: string): void {
  rmSync(join(directory, RECORDER), { force: true });
}

/**
 * Resolves when the recorder has everything: on several consecutive checks the recorder sleeps, so its pipe is empty, and the files have not grown.
 * Each check spans a turn of the server's event loop, in which it reads the terminal and writes to the pipe. One check is not enough, because a
 * kernel worker delivers a program's last output and must wait for CPU time like the server. If the program ended before its recorder wrote a pid,
 * that pid is awaited first.
 */
export async function drained(directory: string, serverHasPipe: () => Promise<boolean>): Promise<void> {
  const began = performance.now();
  let due = began;
  let calm = 0;
  let size = -1;
  while (calm < CALM_LOOKS && performance.now() < began + PATIENCE_MS) {
    if (!(await serverHasPipe()) || !existsSync(directory)) return;
    const isKnown = recorderPid(directory) > 0;
    const recorder = recorderOf(directory);
    if (isKnown ? !recorder || recorder.zombie : performance.now() > began + START_MS) return;
    const now = recordedBytes(directory);
    calm = recorder?.sleeping && now === size ? calm + 1 : 0;
    size = now;
    // The interval runs from check to check, whatever a check takes. After a late check the others keep their distance.
    due = Math.max(due, performance.now() - STEP_MS) + STEP_MS;
    if (calm < CALM_LOOKS) await delay(Math.max(1, Math.round(due - performance.now())));
  }
}

/** Once the pane is gone, the recorder reads the end of its pipe and exits. */
export async function recorderGone(recorder: ProcessInfo | undefined): Promise<void> {
  if (!recorder) return;
  const deadline = performance.now() + PATIENCE_MS;
  while (isSameProcess(recorder.pid, recorder.start) && performance.now() < deadline) await delay(1);
}

/** 0 if no pid was written. */
function recorderPid(directory: string): number {
  return Number(/^(\d+)(?:\n|$)/.exec(recorderText(directory))?.[1] ?? 0);
}

function recorderText(directory: string): string {
  try {
    return readFileSync(join(directory, RECORDER), "utf8");
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
}

function recordedBytes(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory)) {
    if (name.startsWith("output")) bytes += statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
