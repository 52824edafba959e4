/**
 * What a query does: a conversation of its own, one turn, and what came of it.
 *
 * It owns the session that it starts. However it ends, by a result, an error, a cancellation or a reader that has enough, what it started is ended
 * before anybody hears of it: the turn is cancelled, so that the agent drops its request to the model; then every process of the run is ended, with
 * all sessions that its agent started through Holdfast's own tools, and theirs; then their records and files are removed. Only a program that is itself killed leaves its session behind: it goes on.
 *
 * Every step can be repeated: the session has a name of the query's own, by which it is found again when the daemon dies over its start; the prompt has
 * an id; entries are followed by cursor.
 */
import type { Session as SessionRecord } from "@holdfast/contract/session";
import { Approvals } from "./approvals.ts";
import { checkQuery } from "./check-query.ts";
import type { HoldfastClient } from "./client.ts";
import { throwIfAborted } from "./errors.ts";
import { isCode, surely } from "./follow.ts";
import { newMessageId } from "./message-id.ts";
import { sendMessage, untilReceipt } from "./messages.ts";
import type { Leave, QueryEvent, QueryOptions, QueryResult } from "./query.ts";
import { readTurn, type Turn } from "./query-turn.ts";
import { Session } from "./session.ts";
import { type Surroundings, spawnRequest } from "./sessions.ts";
import { withTimeout } from "./timeout.ts";

/** How long a cancelled turn may take to end before its processes are ended. */
const CANCEL_MS = 1500;
/** And these, before they are killed. */
const GRACE_MS = 2000;
/** The journal has the result of a turn a moment after the transcript has its end. */
const JOURNAL_MS = 5000;

interface Surrounded {
  around: Surroundings;
  tell(event: QueryEvent): void;
}

export async function runQuery(client: HoldfastClient, options: QueryOptions, { around, tell }: Surrounded): Promise<QueryResult> {
  checkQuery(options);
  const began = performance.now();
  const leaving: { trouble?: unknown } = {};
  const ask = async (signal: AbortSignal) => {
    const place = await open(client, options, around);
    let turn: Turn | undefined;
    try {
      throwIfAborted(signal);
      tell({ type: "started", session: place.session.id, name: place.session.name });
      turn = await oneTurn(client, { ...place, options, tell, signal });
      return { ...(await outcome(client, { ...place, options, turn })), durationMs: Math.round(performance.now() - began) };
    } finally {
      await leave(client, { ...place, options, isOver: turn !== undefined, around }).catch((error: unknown) => {
        leaving.trouble = error;
      });
    }
  };
  try {
    const result = await withTimeout(options, `no answer after ${options.timeoutMs} ms`, ask);
    if (leaving.trouble === undefined) tell({ type: "result", result });
    return result;
  } finally {
    // That something is left is worse news than whatever else there is.
    if (leaving.trouble !== undefined) await Promise.reject(leaving.trouble);
  }
}

interface Place {
  session: Session;
  /** It was started for this. */
  isOurs: boolean;
  /** The prompt's id, which is also its turn's. */
  message: string;
  /** Where its transcript was before. */
  after: string;
}

/** Not broken off by a signal: what the daemon has begun to start must be known, so that it can be ended. */
async function open(client: HoldfastClient, options: QueryOptions, around: Surroundings): Promise<Place> {
  const message = newMessageId();
  const { session: ref, model, mode } = options;
  if (ref === undefined) return { session: new Session(client, await start(client, options, around)), isOurs: true, message, after: "0.0" };
  const { session, cursor } = await surely(() => client.call("getConversation", { params: { ref } }));
  if (model !== undefined || mode !== undefined)
    await client.call("setConversation", { params: { ref: session.id }, body: { model, mode } });
  return { session: new Session(client, session), isOurs: false, message, after: cursor };
}

async function start(client: HoldfastClient, options: QueryOptions, around: Surroundings): Promise<SessionRecord> {
  const { prompt, session, keep, onApproval, onProgress, strict, timeoutMs, signal, ...spawn } = options;
  throwIfAborted(signal);
  const name = options.name ?? `query-${newMessageId()}`;
  const body = { ...spawnRequest({ ...spawn, name }, around), chat: true };
  return surely(async () => {
    try {
      return await client.call("spawn", { body });
    } catch (error) {
      // Ours, if the daemon died after it had made it.
      if (options.name !== undefined || !isCode(error, "name_taken")) throw error;
      return client.call("getSession", { params: { ref: name } });
    }
  });
}

interface Asked extends Place {
  options: QueryOptions;
  tell(event: QueryEvent): void;
  signal: AbortSignal;
}

async function oneTurn(client: HoldfastClient, asked: Asked): Promise<Turn> {
  const { session, message, options } = asked;
  await sendMessage(client, session.id, { text: options.prompt, id: message });
  const over = new AbortController();
  const signal = AbortSignal.any([asked.signal, over.signal]);
  const reading = readTurn(client, { ...asked, strict: options.strict ?? false, signal });
  const beside = [untilReceipt(client, message, { until: "turn_started", signal }), answering(client, { ...asked, signal })];
  try {
    return await Promise.race([reading, ...beside.map(onlyFailure)]);
  } finally {
    over.abort();
    await Promise.allSettled([reading, ...beside]);
  }
}

/** Words that never begin a turn have no end of one either. */
function onlyFailure(work: Promise<unknown>): Promise<never> {
  return work.then(() => new Promise<never>(() => {}));
}

async function answering(client: HoldfastClient, { session, options, signal }: Asked): Promise<void> {
  const { onApproval } = options;
  if (!onApproval) return;
  for await (const approval of new Approvals(client).watch({ session: session.id, signal })) {
    const leave = await onApproval(approval);
    await answer(leave, approval).catch((error: unknown) => {
      // Answered elsewhere, or no longer needed.
      if (!isCode(error, "approval_over", "approval_not_found")) throw error;
    });
  }
}

function answer(leave: Leave, approval: { allow(): unknown; deny(reason?: string): unknown; answer(text: string): unknown }) {
  if (leave === "wait") return Promise.resolve();
  if (leave === "allow") return Promise.resolve(approval.allow());
  if (leave === "deny") return Promise.resolve(approval.deny());
  return Promise.resolve("deny" in leave ? approval.deny(leave.deny) : approval.answer(leave.answer));
}

async function outcome(client: HoldfastClient, { session, message, options, turn }: Place & { options: QueryOptions; turn: Turn }) {
  await surely(() => client.call("getMessage", { params: { id: message }, query: { until: "replied", waitMs: JOURNAL_MS } }));
  const [{ rows }, ofGit] = await Promise.all([
    surely(() => client.call("getUsage", { query: { by: "turn", session: session.id } })),
    options.worktree && session.workspace ? changedIn(client, session.workspace.id) : [],
  ]);
  const row = rows.find(({ key }) => key?.endsWith(`/${message}`));
  const { key: _key, label: _label, ...usage } = row ?? { key: null, label: null };
  return {
    text: turn.text,
    stopReason: turn.stopReason,
    usage: row ? (usage as NonNullable<QueryResult["usage"]>) : null,
    cost: row?.cost ?? null,
    files: [...new Set([...turn.files.map((file) => within(session.record.cwd, file)), ...ofGit])].sort(),
    session: session.id,
  };
}

/** By git's own words: a letter, and the path; of what was renamed, where it was and where it is. */
async function changedIn(client: HoldfastClient, workspace: string): Promise<string[]> {
  const { diff } = await surely(() => client.call("diffWorkspace", { params: { ref: workspace }, query: { names: true } }));
  return diff.split("\n").flatMap((line) => line.split("\t").slice(1));
}

function within(directory: string, file: string): string {
  return file.startsWith(`${directory}/`) ? file.slice(directory.length + 1) : file;
}

interface Leaving extends Place {
  options: QueryOptions;
  /** Its turn has ended. */
  isOver: boolean;
  around: Surroundings;
}

async function leave(client: HoldfastClient, { session, isOurs, message, options, isOver, around }: Leaving): Promise<void> {
  if (!isOver) await cancel(client, session, message);
  if (!isOurs || (isOver && options.keep)) return;
  await surely(() => session.stop({ graceMs: GRACE_MS, tree: true }));
  try {
    await surely(() => session.remove({ tree: true }));
  } catch (error) {
    // Who may start sessions and not remove them leaves the record behind; `session_not_found`: a daemon died over it, and it is gone.
    if (!isCode(error, "forbidden", "session_not_found")) throw error;
  }
  // What it did there is worth more than a clean table: without `force` it is removed only where nothing would be lost.
  if (!isOver && session.workspace && options.worktree)
    await client
      .call("removeWorkspace", { params: { ref: session.workspace.id }, body: { env: around.env?.() ?? {} } })
      .catch((error: unknown) => {
        if (!isCode(error, "would_lose_work", "workspace_lived_in", "workspace_not_found", "workspace_removed")) throw error;
      });
}

/** Of a turn that ends as it should, the agent has given back what it had: the model's answer, the tool's process, the file half written. */
async function cancel(client: HoldfastClient, session: Session, message: string): Promise<void> {
  try {
    await surely(() => client.call("cancelMessage", { params: { id: message } })).catch(() => {});
    if (!(await surely(() => session.cancel({ waitMs: 0 })))) return;
    await session.waitFor(({ record }) => record.turn !== "working", { timeoutMs: CANCEL_MS });
  } catch (error) {
    if (!isCode(error, "session_ended", "not_offered", "host_failed", "timeout", "session_removed", "session_not_found")) throw error;
  }
}
