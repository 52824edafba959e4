/**
 * What opencode used: it keeps its messages in a database, each with what it took. One is complete when it says so, or when another follows; read in
 * the order of their ids, which is that of time. What it sets subagents to do are sessions of their own below it.
 */
import { type Call, count, type UsageSource } from "../usage-source.ts";
import { reading } from "./opencode-store.ts";

/** At once. */
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
    const sql = `SELECT id, data FROM message WHERE session_id = ? AND id > ? ORDER BY id LIMIT ${MOST}`;
    const rows = reading(of.env, (db) => db.prepare(sql).all(place, after)) ?? [];
    const messages = rows.map(({ id, data }) => ({ id: String(id), ...messageOf(String(data)) }));
    const isOpen = ({ role, time }: Message) => role === "assistant" && count(time?.completed) === null;
    // The last one may still grow.
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

/** Of a model that it knows no price of it says that it costs nothing. */
function callIn({ id, role, modelID, cost, time, tokens }: Message & { id: string }): Call[] {
  if (role !== "assistant" || !tokens) return [];
  const at = count(time?.completed) ?? count(time?.created);
  const [output, reasoning] = [count(tokens.output), count(tokens.reasoning ?? 0)];
  const call: Call = {
    id,
    at: at === null ? null : new Date(at).toISOString(),
    model: typeof modelID === "string" ? modelID : null,
    input: count(tokens.input),
    output: output === null || reasoning === null ? null : output + reasoning,
    cacheRead: count(tokens.cache?.read ?? 0),
    cacheWrite: count(tokens.cache?.write ?? 0),
    cost: typeof cost === "number" && cost > 0 ? cost : null,
    context: null,
  };
  // One that was broken off before the model answered.
  return call.input === 0 && call.output === 0 && call.cacheRead === 0 ? [] : [call];
}
