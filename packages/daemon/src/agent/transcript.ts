/** What an agent wrote down itself of a conversation: read for what it said last, where its hooks do not tell. */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";

/** Whose transcript it is, and where it is looked for. */
export interface Whose {
  conversation: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
}

export interface Transcript {
  /** The file, one JSON value a line; undefined: there is none. */
  path(of: Whose): string | undefined;
  /** All of them, of an agent that begins another each time it goes on with a conversation. */
  files?(of: Whose): readonly string[];
  /** What a line of it says the agent said, if it does. */
  reply(entry: unknown): { text: string; at: string | null } | undefined;
  /** The prompt with which a turn begins, if a line of it tells one; a line may be written again. Without it, nobody can count turns there. */
  prompt?(entry: unknown): Prompt | undefined;
  /** A turn may also begin with what is no prompt, or not with each: they are no count of turns. */
  uncounted?: true;
  /** What a line of it says of how the turn ends that runs there; what follows may say otherwise. Without it, nobody tells its answers. */
  outcome?(entry: unknown): Outcome | undefined;
  /** Whether its model owes an answer after a line of it, and since when; undefined: the line says nothing of that. */
  owes?(entry: unknown): string | false | undefined;
}

/** `reply`: null when the turn goes on. */
export type Outcome = { reply: string | null } | { failure: string } | { interrupted: true };

export interface Prompt {
  id: string;
  text: string;
  at: string | null;
}

/** Of the end of the file: an answer that is longer than what it is said in would be a strange one. */
const READ_BYTES = 8 << 20;

export function lastReplyIn(transcript: Transcript, of: Whose): { text: string; at: string | null } | undefined {
  const path = transcript.path(of);
  const lines = path === undefined ? [] : endOf(path).split("\n");
  for (const line of lines.reverse()) {
    const reply = transcript.reply(parsed(line));
    if (reply && reply.text.trim() !== "") return reply;
  }
  return undefined;
}

/**
 * How many turns it wrote down, or how many since a time: a copy has those of the original too. Null: its files do not say. Without a file there
 * was none that it could go on with.
 */
export function turnsIn(transcript: Transcript | undefined, of: Whose, since?: string): number | null {
  if (!transcript) return null;
  const files = filesOf(transcript, of);
  if (files.length === 0) return 0;
  if (!transcript.prompt || transcript.uncounted || bytesOf(files) > READ_BYTES) return null;
  const lines = files.flatMap((file) => endOf(file).split("\n"));
  const prompts = lines.flatMap((line) => transcript.prompt?.(parsed(line)) ?? []);
  return new Set(prompts.flatMap(({ id, at }) => (since === undefined || at === null || at >= since ? [id] : []))).size;
}

export function filesOf(transcript: Transcript, of: Whose): readonly string[] {
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
