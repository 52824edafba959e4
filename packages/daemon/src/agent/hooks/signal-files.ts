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

/** What cannot be read as JSON has an undefined payload. */
export function readSignals(runDirectory: string): SignalFile[] {
  const directory = join(runDirectory, SIGNALS);
  let names: string[];
  try {
    names = readdirSync(directory).filter((name) => !name.startsWith("."));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const files = names.flatMap((name) => {
    const path = join(directory, name);
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat?.isFile() ? [{ path, written: stat.mtimeNs }] : [];
  });
  files.sort((a, b) => (a.written < b.written ? -1 : a.written > b.written ? 1 : a.path.localeCompare(b.path, "en", { numeric: true })));
  return files.map(({ path, written }) => ({
    path,
    at: new Date(Number(written / 1_000_000n)).toISOString(),
    payload: payloadOf(path),
    ask: path.endsWith(ASK) ? basename(path) : undefined,
  }));
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
