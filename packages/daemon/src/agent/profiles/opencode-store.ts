/**
 * The database of opencode's conversations. An answer is complete when it has a completion time, a prompt when it has its text. Messages are read in
 * the order of their ids, which is chronological. Subagents have sessions of their own.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { textAt } from "../hooks/hook-rules.ts";
import { type Outcome, type Prompt, parsed, type StoredEntry, type Transcript, type Whose } from "../transcript.ts";
import { count } from "../usage-source.ts";

/** Number of messages read: the newest of a long conversation. */
const MOST = 500;

const MESSAGES = `SELECT id, data FROM message WHERE session_id = ? AND id > ? ORDER BY id DESC LIMIT ${MOST}`;

/** Only text: tool results may be long, and parts added for the model are not a person's words. */
const WORDS = `SELECT message_id AS message, json_extract(data, '$.text') AS text FROM part
  WHERE session_id = ? AND message_id >= ? AND json_extract(data, '$.type') = 'text'
  AND coalesce(json_extract(data, '$.synthetic'), 0) = 0 AND coalesce(json_extract(data, '$.ignored'), 0) = 0 ORDER BY id`;

interface Entry extends StoredEntry {
  message: unknown;
  text: string;
}

export const opencodeTranscript: Transcript = {
  path: ({ env }) => {
    const file = databaseOf(env);
    return existsSync(file) ? file : undefined;
  },
  store: { read: (of, after) => reading(of.env, (db) => read(db, of, after)) ?? { entries: [], after } },
  uncounted: true,
  elsewhere: true,
  reply: (entry) => {
    const { message, text, timestamp } = entry as Entry;
    return textAt(message, "role") === "assistant" && text !== "" ? { text, at: timestamp } : undefined;
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
  return textAt(message, "role") === "user" && text !== "" ? { id, text, at: timestamp } : undefined;
}

/** The outcome of the prompt that a message answers. After tool calls the turn continues, with answers to a prompt that was given into it. */
function outcomeIn(entry: unknown): Outcome | undefined {
  const { message, text } = entry as Entry;
  const turn = textAt(message, "parentID");
  if (textAt(message, "role") !== "assistant" || turn === undefined) return undefined;
  const error = textAt(message, "error.name");
  if (error === "MessageAbortedError") return { turn, ends: true, interrupted: true };
  if (error !== undefined) return { turn, ends: true, failure: textAt(message, "error.data.message") ?? error };
  const goesOn = textAt(message, "finish") === "tool-calls";
  return goesOn ? { turn, reply: null } : { turn, ends: true, reply: text === "" ? null : text };
}

function read(db: DatabaseSync, { conversation }: Whose, after: string): { entries: Entry[]; after: string } {
  const rows = db.prepare(MESSAGES).all(conversation, after).reverse();
  const [first] = rows;
  if (!first) return { entries: [], after };
  const parts = Map.groupBy(db.prepare(WORDS).all(conversation, String(first.id)), ({ message }) => String(message));
  const messages = rows.map(({ id, data }, index) => {
    const message = parsed(String(data));
    const text = (parts.get(String(id)) ?? []).map((part) => String(part.text)).join("");
    const isAnswer = textAt(message, "role") === "assistant";
    const at = count(Number(textAt(message, isAnswer ? "time.completed" : "time.created")));
    return {
      id: String(id),
      message,
      text,
      isComplete: at !== null && (isAnswer || text !== "" || index < rows.length - 1),
      isAnswer,
      at: at ?? 0,
    };
  });
  // A message that a crash left incomplete stays so. Only the last answer and later prompts can still change.
  const last = messages.findLastIndex(({ isAnswer }) => isAnswer);
  const open = messages.findIndex(({ isComplete }, index) => !isComplete && index >= last);
  const done = open < 0 ? messages : messages.slice(0, open);
  const entries = messages
    .filter(({ isComplete }) => isComplete)
    .map(({ id, message, text, at }) => ({ id, message, text, timestamp: new Date(at).toISOString() }));
  return { entries, after: done.at(-1)?.id ?? after };
}

export function databaseOf(env: Readonly<Record<string, string>>): string {
  return join(env.XDG_DATA_HOME || join(env.HOME || homedir(), ".local/share"), "opencode", "opencode.db");
}

/** Undefined if there is no database, or one with an unknown schema. */
export function reading<T>(env: Readonly<Record<string, string>>, read: (db: DatabaseSync) => T): T | undefined {
  const file = databaseOf(env);
  if (!existsSync(file)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
    return read(db);
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}
