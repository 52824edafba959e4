/**
 * The database of opencode's conversations. An answer is complete when it has a completion time, a prompt when it has its text. Messages are read in
 * the order of their ids, which is chronological. Subagents have sessions of their own.
 */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Outcome, type Prompt, type StoredEntry, type Transcript, timeIn, type Whose } from "../transcript.ts";
import { count } from "../usage-source.ts";

/** Number of messages read, and their total text: the newest of a long conversation. A longer entry is skipped. */
const MOST = 500;
const MOST_TEXT = 8 << 20;

/** A message without its text. No message is longer, unless an agent wrote it to fill memory. */
export const SHORT_DATA = "iif(octet_length(data) <= 262144, data, '')";

const READABLE = `octet_length(data) <= ${MOST_TEXT} AND json_valid(data)`;

/** Only the fields in use: a message may contain whole files. */
const MESSAGES = `SELECT id, data ->> '$.role' AS role, data ->> '$.parentID' AS parent, data ->> '$.finish' AS finish,
  data ->> '$.error.name' AS error, substr(data ->> '$.error.data.message', 1, 2000) AS why,
  data ->> '$.time.created' AS created, data ->> '$.time.completed' AS completed
  FROM message WHERE session_id = ? AND id > ? AND ${READABLE} ORDER BY id DESC LIMIT ${MOST}`;

/** Only text: tool results may be long, and parts added for the model are not a person's words. */
const WORDS = `SELECT message_id AS message, data ->> '$.text' AS text FROM part
  WHERE session_id = ? AND message_id >= ? AND ${READABLE} AND data ->> '$.type' = 'text'
  AND coalesce(data ->> '$.synthetic', 0) = 0 AND coalesce(data ->> '$.ignored', 0) = 0 ORDER BY id DESC`;

/** A person who rejects a tool call, and says nothing instead, ends the turn. */
const REJECTED = `SELECT DISTINCT message_id AS message FROM part
  WHERE session_id = ? AND message_id >= ? AND ${READABLE} AND data ->> '$.state.status' = 'error'
  AND data ->> '$.state.error' IN ('The user rejected permission to use this specific tool call.', 'The user dismissed this question')`;

/** Finds a view or a virtual table in the place of a table. */
const OTHERS = `SELECT 1 FROM sqlite_schema WHERE lower(name) IN ('message', 'part', 'session')
  AND (type <> 'table' OR sql LIKE 'create virtual%') LIMIT 1`;

interface Message {
  isAnswer: boolean;
  parent: string | null;
  finish: string | null;
  error: string | null;
  why: string | null;
  isRejected: boolean;
}

interface Entry extends StoredEntry {
  message: Message;
  text: string;
}

export const opencodeTranscript: Transcript = {
  path: ({ env }) => {
    const file = databaseOf(env);
    return isFile(file) ? file : undefined;
  },
  store: {
    read: (of, after) => reading(of.env, (db) => read(db, of, after)) ?? { entries: [], after },
    stamp: ({ env }) => ["", "-wal"].map((suffix) => stampOf(databaseOf(env) + suffix)).join(" "),
  },
  uncounted: true,
  elsewhere: true,
  reply: (entry) => {
    const { message, text, timestamp } = entry as Entry;
    return message.isAnswer && text !== "" ? { text, at: timestamp } : undefined;
  },
  prompt: promptIn,
  outcome: outcomeIn,
  named: true,
  owes: (entry) => {
    if (promptIn(entry)) return (entry as Entry).timestamp;
    return outcomeIn(entry)?.ends ? false : undefined;
  },
};

function promptIn(entry: unknown): Prompt | undefined {
  const { id, message, text, timestamp } = entry as Entry;
  return !message.isAnswer && text !== "" ? { id, text, at: timestamp } : undefined;
}

/** The outcome of the prompt that a message answers. After tool calls the turn continues, with answers to a prompt that was given into it. */
function outcomeIn(entry: unknown): Outcome | undefined {
  const { message, text } = entry as Entry;
  const { isAnswer, parent: turn, finish, error, why, isRejected } = message;
  if (!isAnswer || turn === null) return undefined;
  if (error === "MessageAbortedError" || isRejected) return { turn, ends: true, interrupted: true };
  if (error !== null) return { turn, ends: true, failure: why ?? error };
  return finish === "tool-calls" ? { turn, reply: null } : { turn, ends: true, reply: text === "" ? null : text };
}

function read(db: DatabaseSync, { conversation }: Whose, after: string): { entries: Entry[]; after: string } {
  const found = db.prepare(MESSAGES).all(conversation, after).reverse();
  const [first] = found;
  if (!first) return { entries: [], after };
  const { words, from } = wordsSince(db, conversation, String(first.id));
  const rows = found.filter(({ id }) => String(id) >= from);
  const rejected = new Set(
    db
      .prepare(REJECTED)
      .all(conversation, from)
      .map(({ message }) => String(message)),
  );
  const messages = rows.map(({ id, role, parent, finish, error, why, created, completed }, index) => {
    const isAnswer = role === "assistant";
    const text = words.get(String(id)) ?? "";
    const at = timeIn(count(isAnswer ? completed : created));
    return {
      id: String(id),
      message: {
        isAnswer,
        parent: textOf(parent),
        finish: textOf(finish),
        error: textOf(error),
        why: textOf(why),
        isRejected: rejected.has(String(id)),
      },
      text,
      isComplete: at !== null && (isAnswer || text !== "" || index < rows.length - 1),
      timestamp: at ?? "",
    };
  });
  // A message that a crash left incomplete stays so. Only the last answer and later prompts can still change.
  const last = messages.findLastIndex(({ message }) => message.isAnswer);
  const open = messages.findIndex(({ isComplete }, index) => !isComplete && index >= last);
  const done = open < 0 ? messages : messages.slice(0, open);
  const entries = messages
    .filter(({ isComplete }) => isComplete)
    .map(({ id, message, text, timestamp }) => ({ id, message, text, timestamp }));
  return { entries, after: done.at(-1)?.id ?? after };
}

/** The text of each message, and the oldest message whose text is whole. */
function wordsSince(db: DatabaseSync, conversation: string, first: string): { words: Map<string, string>; from: string } {
  const words = new Map<string, string>();
  let length = 0;
  for (const { message, text } of db.prepare(WORDS).iterate(conversation, first)) {
    const part = String(text);
    length += part.length;
    if (length > MOST_TEXT) return { words, from: `${message}\0` };
    words.set(String(message), part + (words.get(String(message)) ?? ""));
  }
  return { words, from: first };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function databaseOf(env: Readonly<Record<string, string>>): string {
  return join(env.XDG_DATA_HOME || join(env.HOME || homedir(), ".local/share"), "opencode", "opencode.db");
}

/** Reading may create an empty file. */
function stampOf(file: string): string {
  const { size = 0, mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return size === 0 ? "" : `${size} ${mtimeMs}`;
}

/** Undefined if there is nothing. */
function isFile(path: string): boolean | undefined {
  return statSync(path, { throwIfNoEntry: false })?.isFile();
}

/** Milliseconds to wait for a lock, which nobody holds for long; the daemon does nothing else meanwhile. */
const LOCK_MS = 100;

/** Undefined if there is no database, or one with an unknown schema. */
export function reading<T>(env: Readonly<Record<string, string>>, read: (db: DatabaseSync) => T): T | undefined {
  const file = databaseOf(env);
  // SQLite would wait for a pipe in the place of the database or its journal.
  if (!isFile(file) || ![`${file}-journal`, `${file}-wal`].every((side) => isFile(side) ?? true)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: LOCK_MS });
    // A view may never end.
    return db.prepare(OTHERS).get() === undefined ? read(db) : undefined;
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}
