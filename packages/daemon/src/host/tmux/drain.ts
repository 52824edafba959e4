/**
 * The end of a recording. A dead pane may still have bytes on their way: in the server's buffer for the pipe, then in the
 * pipe, then in the recorder. Removing the pane drops what is in the server's buffer, so removal waits until nothing moves.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { allProcesses, argumentsOf, inspect, isMissing, isSameProcess, type ProcessInfo, writeFileAtomic } from "@holdfast/platform";

/** A recorder that is stuck (a disk that does not answer) must not hold the end of a run for ever. */
const PATIENCE_MS = 30_000;
/** On a machine that is overloaded a recorder may come this much later than the program it records. */
const START_MS = 5000;
const STEP_MS = 4;
const CALM_LOOKS = 6;
const RECORDER = "recorder";
/** The shell that says its pid, and what it becomes. */
const RECORDERS = new Set(["sh", "split", "dash", "bash"]);

/** The file may be old, and its pid somebody else's by now. */
export function recorderOf(directory: string): ProcessInfo | undefined {
  const info = inspect(recorderPid(directory));
  return info && RECORDERS.has(info.name) ? info : undefined;
}

/** tmux itself notices only when it has something to write for it, and then that is lost. */
export function recorderDied(directory: string): boolean {
  if (recorderPid(directory) === 0 || recorderOf(directory)) return false;
  const found = findRecorder(directory);
  if (found) writeFileAtomic(join(directory, RECORDER), `${found.pid}\n`);
  return found === undefined;
}

/** Whatever a damaged file says: by what it writes to, which is in its arguments. */
function findRecorder(directory: string): ProcessInfo | undefined {
  const recorders = [...allProcesses().values()].filter(({ name, zombie }) => RECORDERS.has(name) && !zombie);
  return recorders.find((info) => recordsTo(directory, info));
}

/** What else has its pid by now does not. */
export function recordsTo(directory: string, { pid }: ProcessInfo): boolean {
  return argumentsOf(pid).some((word) => word.startsWith(`${directory}/output`));
}

/** Why it failed, in its own words or better ones, and when; undefined when it said nothing. */
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

/** A recorder says its pid before anything else; it begins anew when it is replaced. */
export function forgetRecorder(directory: string): void {
  rmSync(join(directory, RECORDER), { force: true });
}

/**
 * Resolves when the recorder has everything. Several times in a row, each around a turn of the server's event loop (in which it reads
 * what the terminal has and writes what the pipe takes): the recorder sleeps, so its pipe is empty, and the files have not grown. The kernel
 * hands a program's last words over by a worker that must wait for its turn like the server itself: hence several. A program may have ended before
 * its recorder got so far as to say its pid: then that is waited for first.
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
    // From look to look, whatever a look takes; after one that came late all others keep their distance.
    due = Math.max(due, performance.now() - STEP_MS) + STEP_MS;
    if (calm < CALM_LOOKS) await delay(Math.max(1, Math.round(due - performance.now())));
  }
}

/** After the pane is gone the recorder reads the end of its pipe and exits. */
export async function recorderGone(recorder: ProcessInfo | undefined): Promise<void> {
  if (!recorder) return;
  const deadline = performance.now() + PATIENCE_MS;
  while (isSameProcess(recorder.pid, recorder.start) && performance.now() < deadline) await delay(1);
}

/** 0 when none was written. */
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
