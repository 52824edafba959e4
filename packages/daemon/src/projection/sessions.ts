/** Sessions and their runs, derived from `session.*` events. A removed session has no row; its events stay in the log. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  type Budget,
  type BudgetLimit,
  type EventData,
  type HoldfastEvent,
  type RecordedSpec,
  reachedText,
  type Session,
  type SessionId,
  type SessionStatus,
} from "@holdfast/contract";
import type { Projection } from "../journal/journal.ts";
import { ATTRIBUTE_COLUMNS, columnValues } from "./session-columns.ts";
import { statementsOf } from "./statements.ts";

export const sessionsProjection: Projection = {
  tables: ["sessions", "runs"],
  apply(db, event) {
    const apply = APPLY[event.type] as ((s: Statements, e: HoldfastEvent, db: DatabaseSync) => void) | undefined;
    apply?.(prepared(db), event, db);
  },
};

type Apply = { [T in HoldfastEvent["type"]]?: (s: Statements, event: Extract<HoldfastEvent, { type: T }>, db: DatabaseSync) => void };

const APPLY: Apply = {
  "session.created"(s, { session, data, actor, at, seq }) {
    create(s, session, { ...data, owner: actor, createdAt: at, seq });
    if (data.prompted === true) s.prompt.run(1, 1, session);
    else if (data.prompted === false) s.prompt.run(null, 0, session);
    s.newRun.run(session, 1);
    if (data.start === false) s.notStarted.run(session);
    if (data.conversation) converse(s, { session, id: data.conversation, run: 1, since: at, turns: data.adopted ? null : 0 });
  },
  "session.rebuilt"(s, { session, data, seq }) {
    create(s, session, { ...data, seq });
    for (const id of [...(data.conversations ?? []), data.conversation ?? ""].filter(Boolean)) {
      converse(s, { session, id, run: Math.max(1, data.runs.length), since: data.createdAt, turns: null });
    }
    if (data.runs.length === 0) {
      s.newRun.run(session, 1);
      s.notStarted.run(session);
    }
    for (const run of data.runs) {
      s.newRun.run(session, run.run);
      s.nextRun.run(run.run, session);
      s.startRun.run(null, null, run.outputPath, run.startedAt, session, run.run);
      if (run.outputPath !== null) s.working.run(session);
      if (run.endedAt === null) continue;
      const cause = run.stopped ? "stopped" : run.exit === null ? "lost" : "exited";
      const { code = null, signal = null } = run.exit ?? {};
      s.endRun.run(run.endedAt, code, signal, cause, null, run.bytes, 1, null, seq, session, run.run);
    }
  },
  "session.run_created"(s, { session, data, at }) {
    if (data.why !== "start") s.newRun.run(session, data.run);
    s.nextRun.run(data.run, session);
    if (data.host !== undefined) s.moveTo.run(data.host, session);
    if (data.prompt === "given" || data.prompt === "repeated") s.prompt.run(data.run, data.run, session);
    // It may be an earlier conversation that continues.
    if (data.conversation !== undefined) converse(s, { session, id: data.conversation, run: data.run, since: at, turns: null });
  },
  "session.restart_scheduled"(s, { session, data }) {
    s.restartAt.run(data.at, data.due ?? null, session);
  },
  "session.restart_abandoned"(s, { session, data }) {
    s.giveUpRestart.run(data.why, session);
  },
  "session.started"(s, { session, data, at }) {
    s.startRun.run(data.pid, data.pidStart, data.outputPath, data.startedAt ?? at, session, data.run);
    s.working.run(session);
    s.shellCameBack.run(session, data.run);
  },
  "session.adopted"(s, { session, data, at }) {
    s.forgetRun.run(session, data.run);
    s.newRun.run(session, data.run);
    s.nextRun.run(data.run, session);
    s.startRun.run(data.pid, data.pidStart, data.outputPath, at, session, data.run);
    s.working.run(session);
  },
  "session.status_changed"(s, { session, data }) {
    const { run, status, since, sinceBoot, turnBegan, evidence, turn, attention, background, hung } = data;
    s.status.run(status, session, run);
    s.standing.run(since, JSON.stringify({ turn, attention, background, hung, evidence, sinceBoot }), session, run);
    if (turnBegan) countTurn(s, session);
    if (status !== "unknown") s.cameBack.run(session, run);
  },
  "session.turns_counted"(s, { session, data }) {
    const counted = conversationsOf(s, session).map((one) => (one.id === data.conversation ? { ...one, turns: data.turns } : one));
    s.missedTurns.run(data.missed, session);
    const current = s.conversationsOf.get(session)?.conversation ?? null;
    s.conversation.run(current, JSON.stringify(counted), session);
  },
  "message.injecting"(s, { session, data }) {
    s.speak.run(data.run, session);
    s.firstMessage.run(data.id, session);
  },
  "session.first_prompted"(s, { session, data }) {
    s.firstPrompt.run(data.text, session);
  },
  "session.progress_reported"(s, { session, data, at }) {
    s.progress.run(JSON.stringify({ ...data, at }), session);
  },
  "session.conversation_changed"(s, { session, data, at }) {
    // The agent may be continuing an earlier conversation.
    converse(s, { session, id: data.conversation, run: data.run, since: at, turns: data.begun ? 0 : null });
  },
  "turn.started": readUpTo,
  "turn.ended": readUpTo,
  "transcript.damaged"(s, { session, data }) {
    if (data.bytes !== undefined) s.replacedTranscript.run(data.bytes, session, data.run);
  },
  "tool.started": readUpTo,
  "tool.output": readUpTo,
  "tool.completed": readUpTo,
  "session.stop_requested"(s, { session, data }) {
    s.requestStop.run(session, data.run);
  },
  "session.limit_exceeded"(s, { session, data }) {
    s.exceedLimit.run(data.limit, session, data.run);
  },
  "session.ended"(s, { session, data, seq }) {
    s.endRun.run(
      data.endedAt,
      data.exit?.code ?? null,
      data.exit?.signal ?? null,
      data.cause,
      data.lastActivityAt,
      data.bytes,
      data.durationMs === undefined ? 1 : 0,
      data.durationMs ?? null,
      seq,
      session,
      data.run,
    );
    const status = statusAtEnd(data);
    s.status.run(status, session, data.run);
    if (status === "failed" || status === "lost") s.fail.run(JSON.stringify({ what: "ended", why: null, at: data.endedAt, seq }), session);
    // It was stopped on request, so the unfinished turn is no news.
    else if (status === "stopped") s.forgive.run(session, "turn");
    if (data.cause === "lost") s.lose.run(data.run, session);
    else if (data.cause === "stopped" || data.cause === "let_go" || data.exit?.code === 0) s.cameBack.run(session, data.run);
  },
  "session.turn_failed"(s, { session, data, at, seq }) {
    s.fail.run(JSON.stringify({ what: "turn", why: data.why, at, seq }), session);
  },
  // A look may be recorded after events that it has not seen.
  "session.looked_at": (s, event) => seen(s, event, event.data.upTo),
  "session.attached": (s, event) => seen(s, event),
  "session.restore_due"(s, { session, data }) {
    s.lose.run(data.run, session);
  },
  "budget.changed"(s, { session, data }) {
    const was = s.budgetOf.get(session);
    const [before, warned] = [was?.budget, was?.budget_warned].map((text) => JSON.parse(String(text ?? "{}")) as unknown);
    // Unchanged limits keep their warning.
    const still = (Array.isArray(warned) ? (warned as BudgetLimit[]) : []).filter(
      (limit) => (before as Budget)[limit] === data.budget[limit],
    );
    s.budget.run(JSON.stringify(data.budget), JSON.stringify(still), session);
    s.forgive.run(session, "budget");
  },
  "budget.warned"(s, { session, data }) {
    s.warnBudget.run(data.limit, session);
  },
  "budget.exceeded"(s, { session, data: { limit, used, allowed, of }, at, seq }) {
    s.exceedBudget.run(JSON.stringify({ limit, used, allowed, at, ...(of ? { of } : {}) }), session);
    s.fail.run(JSON.stringify({ what: "budget", why: reachedText({ limit, used, allowed }), at, seq }), session);
  },
  "session.viewed"(s, event) {
    s.view.run(event.at, event.session, event.data.run);
    seen(s, event);
  },
  "recording.cut"(s, { session, data }) {
    s.cut.run(data.offset, data.outputPath, session, data.run);
  },
  "session.renamed"(s, { session, data }) {
    s.rename.run(data.name, session);
  },
  "session.handed_over"(s, { session, actor, at, data }) {
    s.handOver.run(data.to, JSON.stringify({ by: actor, ...data, at }), session);
  },
  "session.reparented"(s, { session, data }) {
    s.reparent.run(data.parent, session);
  },
  "session.removed"(s, { session }) {
    s.removeRuns.run(session);
    s.remove.run(session);
  },
  "session.snapshot"(s, { session, data }, db) {
    s.removeRuns.run(session);
    s.remove.run(session);
    insertRow(db, "sessions", data.session);
    for (const run of data.runs) insertRow(db, "runs", run);
  },
};

type New = Pick<EventData<"session.rebuilt">, "conversation" | "workspace" | "forkedFrom" | "owner" | "createdAt"> &
  RecordedSpec & { seq: number };

function create(s: Statements, session: SessionId | null, made: New): void {
  const { owner, createdAt, seq, conversation = null, workspace = null, forkedFrom } = made;
  const from = forkedFrom ? JSON.stringify(forkedFrom) : null;
  s.create.run(session, owner, createdAt, seq, conversation, workspace, from, ...columnValues(made));
}

/** The journal has the transcript up to this offset. */
function readUpTo(s: Statements, { session, data }: { session: SessionId | null; data: { run: number; offset: number } }): void {
  s.readTranscript.run(data.offset, session, data.run);
}
type Had = Session["conversations"][number];

/** Keeps every conversation, because an earlier one can be continued. */
function converse(s: Statements, { session, ...one }: Had & { session: SessionId | null }): void {
  const known = conversationsOf(s, session);
  s.conversation.run(one.id, JSON.stringify(known.some(({ id }) => id === one.id) ? known : [...known, one]), session);
}

function countTurn(s: Statements, session: SessionId | null): void {
  s.turn.run(session);
  const current = s.conversationsOf.get(session)?.conversation ?? null;
  if (current === null) return;
  const counted = (one: Had) => (one.id === current && typeof one.turns === "number" ? { ...one, turns: one.turns + 1 } : one);
  s.conversation.run(current, JSON.stringify(conversationsOf(s, session).map(counted)), session);
}

function conversationsOf(s: Statements, session: SessionId | null): Had[] {
  return JSON.parse(String(s.conversationsOf.get(session)?.conversations ?? "[]")) as Had[];
}

/** Returns a session's current rows, for `session.snapshot`. */
export function snapshotOf(db: DatabaseSync, session: SessionId): EventData<"session.snapshot"> | undefined {
  const row = db.prepare("SELECT * FROM sessions WHERE id = ?").get(session);
  const runs = db.prepare("SELECT * FROM runs WHERE session = ? ORDER BY run").all(session);
  const approvals = db.prepare("SELECT * FROM approvals WHERE session = ? ORDER BY requested_seq").all(session);
  const messages = db.prepare("SELECT * FROM messages WHERE session = ? ORDER BY seq").all(session);
  const attachments = db.prepare("SELECT * FROM attachments WHERE session = ? ORDER BY seq").all(session);
  const of = (table: "turns" | "replies" | "looks" | "usage_places" | "tasks" | "group_members") =>
    db.prepare(`SELECT * FROM ${table} WHERE session = ? ORDER BY 2`).all(session);
  const whole = {
    session: { ...row },
    runs: runs.map((run) => ({ ...run })),
    approvals: approvals.map((approval) => ({ ...approval })),
    messages: messages.map((message) => ({ ...message })),
    attachments: attachments.map((attachment) => ({ ...attachment })),
    turns: of("turns").map((turn) => ({ ...turn })),
    replies: of("replies").map((reply) => ({ ...reply })),
    looks: of("looks").map((look) => ({ ...look })),
    usagePlaces: of("usage_places").map((place) => ({ ...place })),
    tasks: of("tasks").map((task) => ({ ...task })),
    memberships: of("group_members").map((membership) => ({ ...membership })),
  };
  return row && (whole as EventData<"session.snapshot">);
}

/** Uses only the table's own columns: a snapshot of another version may have fewer or more. */
export function insertRow(
  db: DatabaseSync,
  table:
    | "sessions"
    | "runs"
    | "approvals"
    | "messages"
    | "workspaces"
    | "tournaments"
    | "attachments"
    | "turns"
    | "replies"
    | "looks"
    | "usage_places"
    | "tasks"
    | "group_members",
  row: EventData<"session.snapshot">["session"],
): void {
  const columns = db
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => String(name))
    .filter((name) => name in row);
  const places = columns.map(() => "?").join(", ");
  db.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`).run(...columns.map((name) => row[name] ?? null));
}

function statusAtEnd(data: Extract<HoldfastEvent, { type: "session.ended" }>["data"]): SessionStatus {
  if (data.cause === "stopped" || data.cause === "let_go") return "stopped";
  if (data.cause === "not_started" || data.cause === "out_of_memory") return "failed";
  if (data.cause === "lost" || data.exit === null) return "lost";
  return data.exit.code === 0 ? "done" : "failed";
}

type Statements = Record<keyof typeof SQL, StatementSync>;

/** A look by an agent does not count as seen by a person. */
function seen(s: Statements, { session, actor, seq }: HoldfastEvent, upTo = seq): void {
  if (!actor.startsWith("session:")) s.seen.run(session, upTo);
}

const SAYS_NOTHING_YET = "first_prompt IS NULL AND objective IS NULL";

const SQL = {
  replacedTranscript: "UPDATE runs SET transcript_offset = ? WHERE session = ? AND run = ?",
  readTranscript: "UPDATE runs SET transcript_offset = max(transcript_offset, ?) WHERE session = ? AND run = ?",
  create: `INSERT INTO sessions (status, run, id, owner, created_at, created_seq, conversation, workspace, forked_from, ${ATTRIBUTE_COLUMNS.join(", ")})
           VALUES ('starting', 1, ?, ?, ?, ?, ?, ?, ?, ${ATTRIBUTE_COLUMNS.map(() => "?").join(", ")})`,
  notStarted: "UPDATE sessions SET status = 'created' WHERE id = ?",
  newRun: "INSERT INTO runs (session, run) VALUES (?, ?)",
  forgetRun: "DELETE FROM runs WHERE session = ? AND run = ?",
  nextRun:
    "UPDATE sessions SET run = ?, status = 'starting', restart_at = NULL, restart_due = NULL, restart_given_up = NULL, viewed_at = NULL, failure = NULL WHERE id = ?",
  moveTo: "UPDATE sessions SET host = ? WHERE id = ?",
  restartAt: "UPDATE sessions SET restart_at = ?, restart_due = ?, restart_given_up = NULL WHERE id = ?",
  giveUpRestart: "UPDATE sessions SET restart_at = NULL, restart_due = NULL, restart_given_up = ? WHERE id = ?",
  startRun: "UPDATE runs SET pid = ?, pid_start = ?, output_path = ?, started_at = coalesce(started_at, ?) WHERE session = ? AND run = ?",
  // A shell is working while it runs; an agent in a terminal is unknown until there is evidence.
  working: "UPDATE sessions SET status = CASE kind WHEN 'shell' THEN 'working' ELSE 'unknown' END WHERE id = ?",
  exceedLimit: "UPDATE runs SET limit_exceeded = ? WHERE session = ? AND run = ?",
  budgetOf: "SELECT budget, budget_warned FROM sessions WHERE id = ?",
  budget: "UPDATE sessions SET budget = ?, budget_warned = ?, budget_exceeded = NULL WHERE id = ?",
  warnBudget: "UPDATE sessions SET budget_warned = json_insert(budget_warned, '$[#]', ?) WHERE id = ?",
  exceedBudget: "UPDATE sessions SET budget_exceeded = ? WHERE id = ?",
  requestStop: "UPDATE runs SET stop_requested = 1 WHERE session = ? AND run = ?",
  // An event from before durations existed: use the wall clock, unless it was set back.
  endRun: `UPDATE runs SET ended_at = ?1, exit_code = ?2, exit_signal = ?3, cause = ?4, last_activity_at = ?5, bytes = ?6,
             duration_ms = CASE WHEN ?7 THEN max(0, CAST(round((julianday(?1) - julianday(started_at)) * 86400000) AS INTEGER)) ELSE ?8 END,
             ended_seq = ?9
           WHERE session = ?10 AND run = ?11`,
  status: "UPDATE sessions SET status = ? WHERE id = ? AND run = ?",
  standing: "UPDATE runs SET status_at = ?, standing = ? WHERE session = ? AND run = ?",
  turn: "UPDATE sessions SET turns = turns + 1 WHERE id = ?",
  conversation: "UPDATE sessions SET conversation = ?, conversations = ? WHERE id = ?",
  missedTurns: "UPDATE sessions SET turns = turns + ? WHERE id = ?",
  prompt: "UPDATE sessions SET prompted_run = ?, spoken_run = ? WHERE id = ?",
  speak: "UPDATE sessions SET spoken_run = ? WHERE id = ? AND kind = 'terminal'",
  firstPrompt: `UPDATE sessions SET first_prompt = ? WHERE id = ? AND ${SAYS_NOTHING_YET}`,
  // The report of a child is no prompt.
  firstMessage: `UPDATE sessions SET first_prompt = (SELECT substr(text, 1, 500) FROM messages WHERE id = ?1) WHERE id = ?2 AND ${SAYS_NOTHING_YET}
                 AND NOT EXISTS (SELECT 1 FROM messages m JOIN sessions c ON m.sender = 'session:' || c.id WHERE m.id = ?1 AND c.parent = ?2)`,
  lose: "UPDATE sessions SET lost_run = ? WHERE id = ?",
  cameBack: "UPDATE sessions SET lost_run = NULL WHERE id = ? AND lost_run < ?",
  shellCameBack: "UPDATE sessions SET lost_run = NULL WHERE id = ? AND lost_run < ? AND kind = 'shell'",
  conversationsOf: "SELECT conversation, conversations FROM sessions WHERE id = ?",
  // A view of a running session is not a view of its result.
  view: `UPDATE sessions SET viewed_at = ?1 WHERE id = ?2 AND run = ?3 AND status IN ('done', 'failed', 'stopped', 'lost')`,
  fail: "UPDATE sessions SET failure = ? WHERE id = ?",
  seen: "UPDATE sessions SET failure = NULL WHERE id = ?1 AND json_extract(failure, '$.seq') <= ?2",
  forgive: "UPDATE sessions SET failure = NULL WHERE id = ?1 AND json_extract(failure, '$.what') = ?2",
  cut: "UPDATE runs SET cut_offset = ?, output_path = ? WHERE session = ? AND run = ?",
  progress: "UPDATE sessions SET progress = ? WHERE id = ?",
  rename: "UPDATE sessions SET name = ? WHERE id = ?",
  handOver: "UPDATE sessions SET owner = ?, handover = ? WHERE id = ?",
  reparent: "UPDATE sessions SET parent = ? WHERE id = ?",
  removeRuns: "DELETE FROM runs WHERE session = ?",
  remove: "DELETE FROM sessions WHERE id = ?",
} as const;

const prepared = statementsOf(SQL);
