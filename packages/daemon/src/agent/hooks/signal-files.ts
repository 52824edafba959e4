/**
 * What the hooks of a run have told and nobody has taken yet, oldest first. A file stays until what it says is in the journal: a daemon
 * that dies in between finds it again.
 */
import { type FSWatcher, mkdirSync, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { basename, join } from "node:path";
import { describe, isMissing, log } from "@holdfast/platform";
import { ASK, SIGNALS } from "./injection.ts";

export interface SignalFile {
  path: string;
  /** When it was written. */
  at: string;
  payload: unknown;
  /** The FIFO on which the hook waits for an answer, by its name; undefined where it only tells. */
  ask: string | undefined;
}

/** More than any agent tells: what claims to be is no signal. */
const LARGEST = 64_000_000;

/** Each is read when it is its turn: many may have come while there was no daemon. What cannot be read as JSON has an undefined payload. */
export function* readSignals(runDirectory: string): Generator<SignalFile, void> {
  const directory = join(runDirectory, SIGNALS);
  let names: string[];
  try {
    names = readdirSync(directory).filter((name) => !name.startsWith("."));
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  const files = names.flatMap((name) => {
    const path = join(directory, name);
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat?.isFile() ? [{ path, written: stat.mtimeNs, bytes: stat.size }] : [];
  });
  files.sort((a, b) => (a.written < b.written ? -1 : a.written > b.written ? 1 : a.path.localeCompare(b.path, "en", { numeric: true })));
  for (const { path, written, bytes } of files) {
    // One of the time to come would be the newest for ever: the clock was set, or the file's time.
    const at = new Date(Math.min(Date.now(), Number(written / 1_000_000n))).toISOString();
    yield { path, at, payload: bytes > LARGEST ? undefined : payloadOf(path), ask: path.endsWith(ASK) ? basename(path) : undefined };
  }
}

/** Calls when there may be something to take; undefined where the system has no watches left. */
export function watchSignals(runDirectory: string, onSignal: () => void): FSWatcher | undefined {
  const directory = join(runDirectory, SIGNALS);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const watcher = watch(directory, { persistent: false }, (_, name) => {
      if (name === null || !name.startsWith(".")) onSignal();
    });
    watcher.on("error", (error) => log(`cannot watch ${directory}: ${describe(error)}`));
    return watcher;
  } catch (error) {
    log(`cannot watch ${directory}, it is looked at now and then instead: ${describe(error)}`);
    return undefined;
  }
}

function payloadOf(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
