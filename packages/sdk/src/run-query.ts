/**
 * Runs a query: a new conversation or an existing one, one turn, and its result.
 *
 * The query owns the session that it starts. However the query ends (result, error, cancellation, or a reader that stops early), it cleans up before
 * it reports the end. It cancels the turn, so that the agent drops its model request. Then it stops the run and all sessions that descend from it,
 * and removes their records and files. Only if the calling program is killed does the session remain and continue.
 *
 * Every step can be repeated: the session has a unique name by which a new daemon finds it, the prompt has an id, and entries have cursors.
 */
import type { Session as SessionRecord } from "@holdfast/contract/session/session";
import { Approvals } from "./approvals.ts";
import { checkQuery } from "./check-query.ts";
import type { HoldfastClient } from "./client.ts";
import { throwIfAborted } from "./errors.ts";
import { isCode, surely } from "./follow.ts";
import { newMessageId } from "./message-id.ts";
import { sendMessage, untilReceipt } from "./messages.ts";
import { readTurn, type Turn } from "./query-turn.ts";
import type { ApprovalAnswer, QueryEvent, QueryOptions, QueryResult } from "./query-types.ts";
import { Session } from "./session.ts";
import { type Surroundings, spawnRequest } from "./sessions.ts";
import { withTimeout } from "./timeout.ts";

/** Longest wait for a cancelled turn to end, before the run is stopped. */
const CANCEL_MS = 1500;
/** Grace period of the stop, before processes are killed. */
const GRACE_MS = 2000;
/** The journal records a turn's result slightly later than the transcript. */
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
    // A failed cleanup matters more than any other error.
    if (leaving.trouble !== undefined) await Promise.reject(leaving.trouble);
  }
}

interface Place {
  session: Session;
  /** True if the query started the session. */
  isOurs: boolean;
  /** Id of the prompt, which is also the id of its turn. */
  message: string;
  /** Transcript cursor before the prompt. */
  after: string;
}

/** Takes no signal: a session that the daemon has begun to start must be known, so that it can be stopped. */
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
      // The query's own session, if the daemon died after it had created it.
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

/** Rejects if the work fails and otherwise never settles: a message that starts no turn would leave the query waiting forever. */
function onlyFailure(work: Promise<unknown>): Promise<never> {
  return work.then(() => new Promise<never>(() => {}));
}

async function answering(client: HoldfastClient, { session, options, signal }: Asked): Promise<void> {
  const { onApproval } = options;
  if (!onApproval) return;
  for await (const approval of new Approvals(client).watch({ session: session.id, signal })) {
    const given = await onApproval(approval);
    await answer(given, approval).catch((error: unknown) => {
      // The approval was answered elsewhere or is no longer open.
      if (!isCode(error, "approval_over", "approval_not_found")) throw error;
    });
  }
}

function answer(given: ApprovalAnswer, approval: { allow(): unknown; deny(reason?: string): unknown; answer(text: string): unknown }) {
  if (given === "wait") return Promise.resolve();
  if (given === "allow") return Promise.resolve(approval.allow());
  if (given === "deny") return Promise.resolve(approval.deny());
  return Promise.resolve("deny" in given ? approval.deny(given.deny) : approval.answer(given.answer));
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

/** Each line of git's output is a letter and a path; for a renamed file, the old path and the new one. */
async function changedIn(client: HoldfastClient, workspace: string): Promise<string[]> {
  const { diff } = await surely(() => client.call("diffWorkspace", { params: { ref: workspace }, query: { names: true } }));
  return diff.split("\n").flatMap((line) => line.split("\t").slice(1));
}

function within(directory: string, file: string): string {
  return file.startsWith(`${directory}/`) ? file.slice(directory.length + 1) : file;
}

interface Leaving extends Place {
  options: QueryOptions;
  /** True if the turn has ended. */
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
    // `forbidden`: a principal that may start sessions but not remove them leaves the record behind. `session_not_found`: a daemon died during the
    // removal, and the record is gone.
    if (!isCode(error, "forbidden", "session_not_found")) throw error;
  }
  // Without `force` the workspace is removed only if no work would be lost.
  if (!isOver && session.workspace && options.worktree)
    await client
      .call("removeWorkspace", { params: { ref: session.workspace.id }, body: { env: around.env?.() ?? {} } })
      .catch((error: unknown) => {
        if (!isCode(error, "would_lose_work", "workspace_lived_in", "workspace_not_found", "workspace_removed")) throw error;
      });
}

/** Cancelling the turn first lets the agent release the model request, tool processes and half-written files. */
async function cancel(client: HoldfastClient, session: Session, message: string): Promise<void> {
  try {
    await surely(() => client.call("cancelMessage", { params: { id: message } })).catch(() => {});
    if (!(await surely(() => session.cancel({ waitMs: 0 })))) return;
    await session.waitFor(({ record }) => record.turn !== "working", { timeoutMs: CANCEL_MS });
  } catch (error) {
    if (!isCode(error, "session_ended", "not_offered", "host_failed", "timeout", "session_removed", "session_not_found")) throw error;
  }
}
