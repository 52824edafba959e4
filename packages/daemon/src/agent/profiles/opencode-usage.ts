/**
 * Usage of opencode, from the messages in its database. A message is complete when it has a completion time, or when another follows. Messages are
 * read in the order of their ids, which is chronological. Subagents have child sessions.
 */

import { timeIn } from "../transcript.ts";
import { type Call, count, type UsageSource } from "../usage-source.ts";
import { reading, SHORT_DATA } from "./opencode-store.ts";

/** Messages read at once. */
const MOST = 500;

const TREE =
  "WITH RECURSIVE tree (id) AS (SELECT ?1 UNION SELECT s.id FROM session s JOIN tree ON s.parent_id = tree.id) SELECT id FROM tree";

export const opencodeUsage: UsageSource = {
  places: (of) =>
    reading(of.env, (db) =>
      db
        .prepare(TREE)
        .all(of.conversation)
        .map(({ id }) => String(id)),
    ) ?? [],
  read(place, state, of) {
    const after = state ?? "";
    const sql = `SELECT id, ${SHORT_DATA} AS data FROM message WHERE session_id = ? AND id > ? ORDER BY id LIMIT ${MOST}`;
    const rows = reading(of.env, (db) => db.prepare(sql).all(place, after)) ?? [];
    const messages = rows.map(({ id, data }) => ({ id: String(id), ...messageOf(String(data)) }));
    const isOpen = ({ role, time }: Message) => role === "assistant" && count(time?.completed) === null;
    // The last message may still grow.
    const done = messages.filter((message, index) => index < messages.length - 1 || !isOpen(message));
    const calls = done.flatMap((message) => callIn(message));
    return { calls, state: done.at(-1)?.id ?? after, more: rows.length === MOST };
  },
};

interface Message {
  role?: unknown;
  modelID?: unknown;
  cost?: unknown;
  time?: { created?: unknown; completed?: unknown };
  tokens?: { input?: unknown; output?: unknown; reasoning?: unknown; cache?: { read?: unknown; write?: unknown } };
}

function messageOf(text: string): Message {
  try {
    return (JSON.parse(text) ?? {}) as Message;
  } catch {
    return {};
  }
}

/** opencode reports a cost of 0 for a model whose price it does not know. */
function callIn({ id, role, modelID, cost, time, tokens }: Message & { id: string }): Call[] {
  if (role !== "assistant" || !tokens) return [];
  const [output, reasoning] = [count(tokens.output), count(tokens.reasoning ?? 0)];
  const call: Call = {
    id,
    at: timeIn(count(time?.completed) ?? count(time?.created)),
    model: typeof modelID === "string" ? modelID : null,
    input: count(tokens.input),
    output: output === null || reasoning === null ? null : output + reasoning,
    cacheRead: count(tokens.cache?.read ?? 0),
    cacheWrite: count(tokens.cache?.write ?? 0),
    cost: typeof cost === "number" && cost > 0 ? cost : null,
    context: null,
  };
  // A call interrupted before the model answered.
  return call.input === 0 && call.output === 0 && call.cacheRead === 0 ? [] : [call];
}
