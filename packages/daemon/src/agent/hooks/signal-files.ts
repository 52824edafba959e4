/**
 * What the hooks of a run have told and nobody has taken yet, oldest first. A file stays until what it says is in the journal: a daemon
 * that dies in between finds it again. One that cannot be taken must not hold up the others: it is set aside, in `unread/`, for people.
 */
import { type FSWatcher, mkdirSync, readdirSync, renameSync, rmSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ERRORS, HoldfastError, unwritable } from "@holdfast/contract";
import { describe, isMissing, log, readOrdinaryFile } from "@holdfast/platform";
import { ASK, LOST, SIGNALS } from "./injection.ts";

export interface SignalFile {
  path: string;
  /** When it was written. */
  at: string;
  payload: unknown;
  /** Why there is no payload. */
  unreadable?: string;
  /** The FIFO on which the hook waits for an answer, by its name; undefined where it only tells. */
  ask: string | undefined;
}

/** More than any agent tells: what claims to be is no signal. */
const LARGEST = 64_000_000;

/** No hook takes that long to write down what it was told. */
const UNFINISHED_MS = 3_600_000;

/** Each is read when it is its turn: many may have come while there was no daemon. */
export function* readSignals(runDirectory: string): Generator<SignalFile, void> {
  const directory = join(runDirectory, SIGNALS);
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  const files = names.flatMap((name) => {
    const path = join(directory, name);
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    const isWhole = !name.startsWith(".") || Date.now() - Number(stat?.mtimeMs ?? 0) > UNFINISHED_MS;
    return stat?.isFile() && isWhole ? [{ path, written: stat.mtimeNs, bytes: stat.size }] : [];
  });
  files.sort((a, b) => (a.written < b.written ? -1 : a.written > b.written ? 1 : a.path.localeCompare(b.path, "en", { numeric: true })));
  for (const { path, written, bytes } of files) {
    // One of the time to come would be the newest for ever: the clock was set, or the file's time.
    const at = new Date(Math.min(Date.now(), Number(written / 1_000_000n))).toISOString();
    const ask = path.endsWith(ASK) ? basename(path) : undefined;
    if (basename(path).startsWith("."))
      yield { path, at, ask: undefined, payload: undefined, unreadable: "the hook was ended while it wrote" };
    else if (path.endsWith(LOST))
      yield { path, at, ask, payload: undefined, unreadable: "the disk was full, and the hook could not write" };
    else if (bytes > LARGEST) yield { path, at, ask, payload: undefined, unreadable: `it is larger than ${LARGEST / 1_000_000} MB` };
    else yield { path, at, ask, ...contentOf(path) };
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
    log(`cannot watch ${directory}, polling it instead: ${describe(error)}`);
    return undefined;
  }
}

function contentOf(path: string): Pick<SignalFile, "payload" | "unreadable"> {
  try {
    return { payload: JSON.parse(readOrdinaryFile(path, LARGEST)) as unknown };
  } catch (error) {
    // Too many files are open: that passes.
    if (/^E[MN]FILE$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return { payload: undefined, unreadable: String(error) };
  }
}

/** How often one is tried: what made it fail may pass. */
const TRIES = 3;

/** How many of a run are kept that could not be taken. */
const MOST_UNREAD = 100;

const UNREAD = "unread";

export interface Taking {
  /** Takes what one told; it is deleted afterwards. */
  take(file: SignalFile): void;
  /** How often each has failed, by its path. */
  failures: Map<string, number>;
  /** One that cannot be taken at all; who waits for its answer must not do so for ever. */
  onAside(file: SignalFile): void;
}

/** Throws when nothing can be taken now, because nothing can be written down: then all stay as they are. */
export function takeSignals(runDirectory: string, { take, failures, onAside }: Taking): void {
  for (const file of readSignals(runDirectory)) {
    const tried = failures.get(file.path) ?? 0;
    let why = file.unreadable;
    try {
      if (why === undefined) {
        take(file);
        rmSync(file.path, { force: true });
      }
    } catch (error) {
      if (isOfTheJournal(error)) throw error;
      failures.set(file.path, tried + 1);
      log(`a hook's message cannot be read: ${file.path}: ${describe(error)}`);
      if (tried + 1 < TRIES) continue;
      why = String(error);
    }
    if (why === undefined) continue;
    try {
      onAside(file);
      setAside(file.path, why);
      failures.delete(file.path);
    } catch (error) {
      // There is no room even for that: at the next look.
      log(`a hook's message cannot be set aside: ${file.path}: ${describe(error)}`);
    }
  }
}

/** SQLite's primary result codes for what is about the very words: ERROR, TOOBIG, CONSTRAINT, MISMATCH. */
const ABOUT_WORDS = [1, 18, 19, 20];

/** It is not the file's fault. */
function isOfTheJournal(error: unknown): boolean {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  if (typeof errcode === "number") return !ABOUT_WORDS.includes(errcode & 0xff);
  return unwritable(error) !== undefined || (error instanceof HoldfastError && error.httpStatus === ERRORS.journal_damaged.http);
}

function setAside(path: string, why: string): void {
  const directory = join(dirname(path), "..", UNREAD);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (readdirSync(directory).length < MOST_UNREAD) renameSync(path, join(directory, basename(path).replace(/^\./, "")));
  else rmSync(path, { force: true });
  log(`a hook's message is set aside in ${directory}: ${basename(path)}: ${why}`);
}

/** Paths of what was set aside. */
export function unreadSignals(runDirectory: string): string[] {
  try {
    const directory = join(runDirectory, UNREAD);
    return readdirSync(directory)
      .sort()
      .map((name) => join(directory, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
