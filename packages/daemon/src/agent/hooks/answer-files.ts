/**
 * Answers the waiting hooks of a run. Each waits on a FIFO of its own, which has a reader as long as the hook lives. The answer is a file next to it,
 * written before the hook is woken. If the daemon dies in between, the next daemon wakes the hook again.
 */
import { closeSync, constants, type FSWatcher, lstatSync, openSync, readdirSync, rmSync, watch, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, isMissing, log, writeFileAtomic } from "@holdfast/platform";
import { ANSWERS, ASK } from "./injection.ts";

/** A waiting hook. Its open FIFO shows whether it still waits. */
export class WaitingHook implements Disposable {
  readonly #path: string;
  readonly #fifo: number;

  private constructor(path: string, fifo: number) {
    this.#path = path;
    this.#fifo = fifo;
  }

  /** Undefined if the hook has ended. Removes the files that a killed hook left behind. */
  static find(runDirectory: string, ask: string): WaitingHook | undefined {
    const path = join(runDirectory, ANSWERS, ask);
    try {
      if (!lstatSync(path).isFIFO()) return undefined;
      return new WaitingHook(path, openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch (error) {
      if (isMissing(error)) return undefined;
      if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
      rmSync(path, { force: true });
      rmSync(`${path}.json`, { force: true });
      return undefined;
    }
  }

  /** Makes the hook print this text and end; false if it ended before. After an empty text the agent acts as if it had no hook. */
  answer(text: string): boolean {
    writeFileAtomic(`${this.#path}.json`, text);
    try {
      writeSync(this.#fifo, "\n");
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
      rmSync(`${this.#path}.json`, { force: true });
      return false;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fifo);
  }
}

/** The hooks of a run that wait, or were killed while they waited. */
export function waitingAsks(runDirectory: string): string[] {
  try {
    return readdirSync(join(runDirectory, ANSWERS)).filter((name) => name.endsWith(ASK));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Calls back when a hook may have ended. Undefined if the system has no watches left, or the run has no such directory. */
export function watchAnswers(runDirectory: string, onChange: () => void): FSWatcher | undefined {
  const directory = join(runDirectory, ANSWERS);
  try {
    const watcher = watch(directory, { persistent: false }, onChange);
    watcher.on("error", (error) => log(`cannot watch ${directory}: ${describe(error)}`));
    return watcher;
  } catch (error) {
    if (!isMissing(error)) log(`cannot watch ${directory}, polling it instead: ${describe(error)}`);
    return undefined;
  }
}
