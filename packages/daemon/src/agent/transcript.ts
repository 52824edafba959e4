/** An agent's own record of a conversation, read for its prompts and replies where its hooks do not report them. */
import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import type { Memory } from "./line-memory.ts";

/** The conversation of a transcript, and where to look for it. */
export interface Whose {
  conversation: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
}

export interface Transcript {
  /** The file, with one JSON value per line; undefined if there is none. With a `store`, a file in whose directory changes show. */
  path(of: Whose): string | undefined;
  /** All files, for an agent that begins another each time it continues a conversation. */
  files?(of: Whose): readonly string[];
  /** For an agent that keeps a database instead of lines. */
  store?: Store;
  /** The agent's reply in an entry, if there is one. `more`: the agent also calls tools, and answers after them. */
  reply(entry: unknown): { text: string; at: string | null; more?: boolean } | undefined;
  /** The prompt in an entry that begins a turn; an entry may be repeated. Without it turns cannot be counted. */
  prompt?(entry: unknown): Prompt | undefined;
  /** A turn may begin without a prompt, or a prompt without a turn, so prompts do not count turns. */
  uncounted?: true;
  /** The agent may also keep a conversation in another place or form, so without a file the number of turns is unknown. */
  elsewhere?: true;
  /** The outcome of the running turn by an entry; a later entry may change it. Without it answers are not reported. */
  outcome?(entry: unknown, memory: Memory): Outcome | undefined;
  /** Each outcome names its turn and says if it is the last. A prompt alone ends no turn: it may join the running one. */
  named?: true;
  /**
   * The time since when the model owes an answer, false if it owes none, null if only the screen shows what follows; undefined if the entry does not
   * tell.
   */
  owes?(entry: unknown): string | false | null | undefined;
}

/** `reply`: null if the turn continues or ended without a reply. */
export type Ending = { reply: string | null } | { failure: string } | { interrupted: true };

/** For a transcript with named turns: the turn, and whether this ends it. */
export type Outcome = Ending & { turn?: string; ends?: boolean };

/** Entries have ids in chronological order. */
export interface Store {
  /** The complete entries after `after`, oldest first, and the id to read from next: every incomplete entry comes after it. */
  read(of: Whose, after: string): { entries: readonly StoredEntry[]; after: string };
  /** Changes with each write, and not by reading, which the kernel reports as a change too. */
  stamp(of: Whose): string;
}

export interface StoredEntry {
  id: string;
  timestamp: string;
}

export interface Prompt {
  id: string;
  /** The turn of the prompt, if a turn can have several. Default: the prompt's own id. */
  turn?: string;
  /** The prompt was given into the running turn and begins none. */
  joins?: boolean;
  text: string;
  at: string | null;
}

/** Bytes read from the end of the file; no answer is longer. */
const READ_BYTES = 8 << 20;

export function lastReplyIn(transcript: Transcript, of: Whose): { text: string; at: string | null } | undefined {
  for (const entry of lastEntries(transcript, of)) {
    const reply = understood(() => transcript.reply(entry));
    if (reply && reply.text.trim() !== "") return reply;
  }
  return undefined;
}

/**
 * The prompts since a time that were given into a running turn, each with the first answer after it; null: none yet. A later answer may be for what
 * nobody prompted, such as the report of a subagent.
 */
export function joinedPrompts(transcript: Transcript, of: Whose, since: string): { text: string; reply: string | null }[] {
  const joined: { text: string; reply: string | null }[] = [];
  let reply: string | null = null;
  for (const entry of transcript.prompt ? lastEntries(transcript, of) : []) {
    const said = understood(() => transcript.reply(entry));
    if (said && !said.more && said.text.trim() !== "") reply = said.text;
    const prompt = transcript.prompt?.(entry);
    if (!prompt) continue;
    const { joins = false, text, at } = prompt;
    if (at !== null && at < since) break;
    if (joins) joined.push({ text, reply });
    // What follows the prompt of a turn answers that turn.
    else reply = null;
  }
  return joined;
}

/** Newest first. */
function* lastEntries(transcript: Transcript, of: Whose): Generator<unknown> {
  if (transcript.store) return yield* transcript.store.read(of, "").entries.toReversed();
  const path = transcript.path(of);
  for (const line of path === undefined ? [] : endOf(path).split("\n").reverse()) yield entryIn(line);
}

/**
 * The number of recorded turns, all or since a time, since a copy also contains the original's. Null if the files do not tell. Without a file there
 * was no turn that could be continued.
 */
export function turnsIn(transcript: Transcript | undefined, of: Whose, since?: string): number | null {
  if (!transcript) return null;
  const files = filesOf(transcript, of);
  if (files.length === 0) return transcript.elsewhere ? null : 0;
  if (!transcript.prompt || transcript.uncounted || bytesOf(files) > READ_BYTES) return null;
  const lines = files.flatMap((file) => endOf(file).split("\n"));
  const prompts = lines.flatMap((line) => understood(() => transcript.prompt?.(entryIn(line))) ?? []);
  return new Set(prompts.flatMap(({ id, at }) => (since === undefined || at === null || at >= since ? [id] : []))).size;
}

/** Each reading opens all files. No conversation is continued more often. */
const MOST_FILES = 1000;

export function filesOf(transcript: Transcript, of: Whose): readonly string[] {
  if (transcript.store) return [];
  return transcript.files?.(of).slice(0, MOST_FILES) ?? [transcript.path(of)].filter((path) => path !== undefined);
}

/**
 * Remembers where a file was found, because a search goes through a folder for each project, and each change of a file asks again. `key`: the store
 * and the conversation.
 */
export class FoundFiles {
  readonly #known = new Map<string, string>();

  find(key: string, search: () => string | undefined): string | undefined {
    const known = this.#known.get(key);
    if (known !== undefined && existsSync(known)) return known;
    const found = search();
    if (found !== undefined) this.#known.set(key, found);
    return found;
  }
}

/** The names in a directory of an agent; none if it cannot be read. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Total size, which shows whether more was written. */
export function bytesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Empty unless it is an ordinary file: an agent may have put a pipe there, to which nothing would ever be written. */
export function endOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    const stat = fstatSync(file);
    const size = stat.isFile() ? stat.size : 0;
    const bytes = Buffer.alloc(Math.min(size, READ_BYTES));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8", 0, read);
  } finally {
    closeSync(file);
  }
}

/** Undefined for an entry that its reader does not understand: the agent may have written anything, and later entries still count. */
export function understood<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The entry of a line, with a valid time or none: times are compared as text. */
export function entryIn(line: string): unknown {
  const entry = parsed(line);
  if (typeof entry !== "object" || entry === null || !("timestamp" in entry)) return entry;
  return { ...entry, timestamp: timeIn(entry.timestamp) };
}

const YEAR_10000 = Date.UTC(10_000);

/** The time of a text, or of milliseconds since 1970; null if it is none. */
export function timeIn(value: unknown): string | null {
  const time = typeof value === "string" ? Date.parse(value) : typeof value === "number" ? value : Number.NaN;
  return time >= 0 && time < YEAR_10000 ? new Date(time).toISOString() : null;
}

/** Skips a line that is not JSON: the first may be cut, and the last half written. */
export function parsed(line: string): unknown {
  try {
    return line === "" ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}
