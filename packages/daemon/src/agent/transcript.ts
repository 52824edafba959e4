/** What an agent wrote down itself of a conversation: read for what it said last, where its hooks do not tell. */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { Memory } from "./usage-source.ts";

/** Whose transcript it is, and where it is looked for. */
export interface Whose {
  conversation: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
}

export interface Transcript {
  /** The file, one JSON value a line; undefined: there is none. Of one with a `store`, a file beside which a change shows. */
  path(of: Whose): string | undefined;
  /** All of them, of an agent that begins another each time it goes on with a conversation. */
  files?(of: Whose): readonly string[];
  /** For an agent that keeps a database and no lines. */
  store?: Store;
  /** What a line of it says the agent said, if it does. */
  reply(entry: unknown): { text: string; at: string | null } | undefined;
  /** The prompt with which a turn begins, if a line of it tells one; a line may be written again. Without it, nobody can count turns there. */
  prompt?(entry: unknown): Prompt | undefined;
  /** A turn may also begin with what is no prompt, or not with each: they are no count of turns. */
  uncounted?: true;
  /** The agent may also keep a conversation in another place or form: without a file here, nobody knows how many turns it has. */
  elsewhere?: true;
  /** What a line of it says of how the turn ends that runs there; what follows may say otherwise. Without it, nobody tells its answers. */
  outcome?(entry: unknown, memory: Memory): Outcome | undefined;
  /** Each outcome names its turn, and the last one of a turn says so: a prompt alone ends none, it may join the turn that runs. */
  named?: true;
  /** Whether its model owes an answer after a line of it, and since when; undefined: the line says nothing of that. */
  owes?(entry: unknown): string | false | undefined;
}

/** `reply`: null when the turn goes on, or ended without one. */
export type Ending = { reply: string | null } | { failure: string } | { interrupted: true };

/** Of a transcript with named turns: which, and whether that was its last word. */
export type Outcome = Ending & { turn?: string; ends?: boolean };

/** Entries have an `id` of their own, in the order of time. */
export interface Store {
  /** The complete entries behind `after`, oldest first, and the id behind which nothing incomplete is left: read from there again. */
  read(of: Whose, after: string): { entries: readonly StoredEntry[]; after: string };
}

export interface StoredEntry {
  id: string;
  timestamp: string;
}

export interface Prompt {
  id: string;
  /** The turn that the prompt belongs to, where several may belong to one. Else it is the prompt's own id. */
  turn?: string;
  /** It was given into the turn that runs, and begins none. */
  joins?: boolean;
  text: string;
  at: string | null;
}

/** Of the end of the file: an answer that is longer than what it is said in would be a strange one. */
const READ_BYTES = 8 << 20;

export function lastReplyIn(transcript: Transcript, of: Whose): { text: string; at: string | null } | undefined {
  for (const entry of lastEntries(transcript, of)) {
    const reply = transcript.reply(entry);
    if (reply && reply.text.trim() !== "") return reply;
  }
  return undefined;
}

/** From the last one on. */
function* lastEntries(transcript: Transcript, of: Whose): Generator<unknown> {
  if (transcript.store) return yield* transcript.store.read(of, "").entries.toReversed();
  const path = transcript.path(of);
  for (const line of path === undefined ? [] : endOf(path).split("\n").reverse()) yield parsed(line);
}

/**
 * How many turns it wrote down, or how many since a time: a copy has those of the original too. Null: its files do not say. Without a file there
 * was none that it could go on with.
 */
export function turnsIn(transcript: Transcript | undefined, of: Whose, since?: string): number | null {
  if (!transcript) return null;
  const files = filesOf(transcript, of);
  if (files.length === 0) return transcript.elsewhere ? null : 0;
  if (!transcript.prompt || transcript.uncounted || bytesOf(files) > READ_BYTES) return null;
  const lines = files.flatMap((file) => endOf(file).split("\n"));
  const prompts = lines.flatMap((line) => transcript.prompt?.(parsed(line)) ?? []);
  return new Set(prompts.flatMap(({ id, at }) => (since === undefined || at === null || at >= since ? [id] : []))).size;
}

export function filesOf(transcript: Transcript, of: Whose): readonly string[] {
  if (transcript.store) return [];
  return transcript.files?.(of) ?? [transcript.path(of)].filter((path) => path !== undefined);
}

/** By which it shows that more was written. */
export function bytesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Empty when there is no ordinary file: an agent may have put a pipe there, which nobody would ever write to. */
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

/** A line that is no JSON is passed over: the first may be torn, and the last one half written. */
export function parsed(line: string): unknown {
  try {
    return line === "" ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}
