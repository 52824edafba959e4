/**
 * Signals that the hooks of a run have written and the daemon has not taken yet, oldest first. A file stays until its content is in the journal, so
 * the next daemon finds it again after a crash. A file that cannot be taken must not block the others: it is moved to `unread/`, for people.
 */
import { type FSWatcher, mkdirSync, readdirSync, renameSync, rmSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ERRORS, HoldfastError, unwritable } from "@holdfast/contract";
import { describe, isMissing, log, readOrdinaryFile } from "@holdfast/platform";
import { ASK, LOST, SIGNALS } from "./injection.ts";

export interface SignalFile {
  path: string;
  /** Time of writing. */
  at: string;
  payload: unknown;
  /** Reason for a missing payload. */
  unreadable?: string;
  /** Name of the FIFO on which the hook waits for an answer; undefined if it only reports. */
  ask: string | undefined;
}

/** No agent reports more. A larger file is not a signal. */
const LARGEST = 64_000_000;

/** No hook takes this long to write its file. */
const UNFINISHED_MS = 3_600_000;

/** Reads each file only when it is due: many may have arrived while no daemon ran. */
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
    // A file time in the future, after a clock change, would stay the newest evidence.
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

/** Calls back when there may be signals. Undefined if the system has no watches left. */
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
    // Too many open files: temporary.
    if (/^E[MN]FILE$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return { payload: undefined, unreadable: String(error) };
  }
}

/** Attempts per file, since the cause of a failure may be temporary. */
const TRIES = 3;

/** Number of unreadable files that are kept per run. */
const MOST_UNREAD = 100;

const UNREAD = "unread";

export interface Taking {
  /** Processes a signal. Its file is deleted afterwards. */
  take(file: SignalFile): void;
  /** Number of failures by path. */
  failures: Map<string, number>;
  /** Called for a file that cannot be taken, so that a hook does not wait for its answer forever. */
  onAside(file: SignalFile): void;
}

/** Throws if the journal cannot be written. All files then stay as they are. */
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
      // No disk space even for that. Retried at the next look.
      log(`a hook's message cannot be set aside: ${file.path}: ${describe(error)}`);
    }
  }
}

/** SQLite's primary result codes that the data itself causes: ERROR, TOOBIG, CONSTRAINT, MISMATCH. */
const ABOUT_WORDS = [1, 18, 19, 20];

/** True if the journal failed, not the file. */
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

/** Paths of the unreadable files that were moved away. */
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
