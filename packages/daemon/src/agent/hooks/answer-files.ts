/**
 * Where the hooks of a run wait that asked for leave: each on a FIFO of its own, which has a reader for as long as the hook lives. The answer
 * is a file beside it, there before the hook is woken, so that it does not matter when a daemon dies in between: the next one wakes it again.
 */
import { closeSync, constants, type FSWatcher, lstatSync, openSync, readdirSync, rmSync, watch, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, isMissing, log, writeFileAtomic } from "@holdfast/platform";
import { ANSWERS, ASK } from "./injection.ts";

/** A hook that waits, held so that it can be told whether it still does. */
export class WaitingHook implements Disposable {
  readonly #path: string;
  readonly #fifo: number;

  private constructor(path: string, fifo: number) {
    this.#path = path;
    this.#fifo = fifo;
  }

  /** Undefined: it has ended, whatever the reason. What a killed one left behind is removed. */
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

  /** It prints this and ends; false: it ended before. With nothing to print, the agent decides as if there had been no hook. */
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

/** The hooks of a run that wait, or were killed while they did. */
export function waitingAsks(runDirectory: string): string[] {
  try {
    return readdirSync(join(runDirectory, ANSWERS)).filter((name) => name.endsWith(ASK));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Calls when a hook may have ended; undefined where the system has no watches left, or the run has no such directory. */
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
