/** What an agent wrote down itself of a conversation: read for what it said last, where its hooks do not tell. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

export interface Transcript {
  /** The file, one JSON value a line; undefined: there is none. */
  path(of: { conversation: string; cwd: string; env: Readonly<Record<string, string>> }): string | undefined;
  /** What a line of it says the agent said, if it does. */
  reply(entry: unknown): { text: string; at: string | null } | undefined;
}

/** Of the end of the file: an answer that is longer than what it is said in would be a strange one. */
const READ_BYTES = 8 << 20;

export function lastReplyIn(
  transcript: Transcript,
  of: { conversation: string; cwd: string; env: Readonly<Record<string, string>> },
): { text: string; at: string | null } | undefined {
  const path = transcript.path(of);
  const lines = path === undefined ? [] : endOf(path).split("\n");
  for (const line of lines.reverse()) {
    const reply = transcript.reply(parsed(line));
    if (reply && reply.text.trim() !== "") return reply;
  }
  return undefined;
}

/** Empty when there is none. */
export function endOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(file);
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
