/**
 * Sessions and their runs, derived from `session.*` events. A removed session leaves no row: its events stay in the log.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { HoldfastEvent, SessionStatus } from "@holdfast/contract";
import type { Projection } from "../journal/journal.ts";

export const sessionsProjection: Projection = {
  tables: ["sessions", "runs"],
  apply(db, event) {
    const apply = APPLY[event.type] as ((s: Statements, e: HoldfastEvent) => void) | undefined;
    apply?.(statementsOf(db), event);
  },
};

type Apply = { [T in HoldfastEvent["type"]]?: (s: Statements, event: Extract<HoldfastEvent, { type: T }>) => void };

const APPLY: Apply = {
  "session.created"(s, { session, data, actor, at, seq }) {
    s.create.run(
      session,
      data.name,
      data.kind,
      data.agent,
      data.role,
      data.objective,
      data.host,
      data.cwd,
      JSON.stringify(data.command),
      actor,
      at,
      seq,
      data.restart ?? "never",
      data.memoryLimitBytes ?? null,
    );
    s.newRun.run(session, 1);
  },
  "session.run_created"(s, { session, data }) {
    s.newRun.run(session, data.run);
    s.nextRun.run(data.run, session);
  },
  "session.restart_scheduled"(s, { session, data }) {
    s.restartAt.run(data.at, session);
  },
  "session.restart_abandoned"(s, { session }) {
    s.restartAt.run(null, session);
  },
  "session.started"(s, { session, data, at }) {
    s.startRun.run(data.pid, data.pidStart, data.outputPath, at, session, data.run);
    s.working.run(session);
  },
  "session.adopted"(s, { session, data, at }) {
    s.forgetRun.run(session, data.run);
    s.newRun.run(session, data.run);
    s.nextRun.run(data.run, session);
    s.startRun.run(data.pid, data.pidStart, data.outputPath, at, session, data.run);
    s.working.run(session);
  },
  "session.stop_requested"(s, { session, data }) {
    s.requestStop.run(session, data.run);
  },
  "session.limit_exceeded"(s, { session, data }) {
    s.exceedLimit.run(data.limit, session, data.run);
  },
  "session.ended"(s, { session, data }) {
    s.endRun.run(
      data.endedAt,
      data.exit?.code ?? null,
      data.exit?.signal ?? null,
      data.cause,
      data.lastActivityAt,
      data.bytes,
      session,
      data.run,
    );
    s.status.run(statusAtEnd(data), session, data.run);
  },
  "session.renamed"(s, { session, data }) {
    s.rename.run(data.name, session);
  },
  "session.removed"(s, { session }) {
    s.removeRuns.run(session);
    s.remove.run(session);
  },
};

function statusAtEnd(data: Extract<HoldfastEvent, { type: "session.ended" }>["data"]): SessionStatus {
  if (data.cause === "stopped") return "stopped";
  if (data.cause === "not_started" || data.cause === "out_of_memory") return "failed";
  if (data.cause === "lost" || data.exit === null) return "lost";
  return data.exit.code === 0 ? "done" : "failed";
}

type Statements = Record<keyof typeof SQL, StatementSync>;

const SQL = {
  create: `INSERT INTO sessions (id, name, kind, agent, role, objective, host, cwd, command, owner, created_at, created_seq, status, run, restart, memory_limit)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'starting', 1, ?, ?)`,
  newRun: "INSERT INTO runs (session, run) VALUES (?, ?)",
  forgetRun: "DELETE FROM runs WHERE session = ? AND run = ?",
  nextRun: "UPDATE sessions SET run = ?, status = 'starting', restart_at = NULL WHERE id = ?",
  restartAt: "UPDATE sessions SET restart_at = ? WHERE id = ?",
  startRun: "UPDATE runs SET pid = ?, pid_start = ?, output_path = ?, started_at = ? WHERE session = ? AND run = ?",
  // A shell works while it runs; what an agent in a terminal does is unknown until there is evidence.
  working: "UPDATE sessions SET status = CASE kind WHEN 'shell' THEN 'working' ELSE 'unknown' END WHERE id = ?",
  exceedLimit: "UPDATE runs SET limit_exceeded = ? WHERE session = ? AND run = ?",
  requestStop: "UPDATE runs SET stop_requested = 1 WHERE session = ? AND run = ?",
  endRun:
    "UPDATE runs SET ended_at = ?, exit_code = ?, exit_signal = ?, cause = ?, last_activity_at = ?, bytes = ? WHERE session = ? AND run = ?",
  status: "UPDATE sessions SET status = ? WHERE id = ? AND run = ?",
  rename: "UPDATE sessions SET name = ? WHERE id = ?",
  removeRuns: "DELETE FROM runs WHERE session = ?",
  remove: "DELETE FROM sessions WHERE id = ?",
} as const;

const prepared = new WeakMap<DatabaseSync, Statements>();

function statementsOf(db: DatabaseSync): Statements {
  let statements = prepared.get(db);
  if (!statements) {
    statements = Object.fromEntries(Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)])) as Statements;
    prepared.set(db, statements);
  }
  return statements;
}
