/** Queries on the sessions and runs tables, and the only place that resolves a name, an id or an id prefix to a session. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  type Attachment,
  type BudgetLimit,
  type BudgetState,
  type EndCause,
  type EventData,
  type Exit,
  type ForkedFrom,
  type GivenUp,
  type Handover,
  HoldfastError,
  hasEnded,
  type Principal,
  type Progress,
  principalOf,
  type Session,
  type SessionId,
  type SessionStatus,
  sessionId,
  type WorkspaceId,
  workspaceId,
} from "@holdfast/contract";
import { editDistance } from "@holdfast/platform";
import { watched } from "../journal/database.ts";
import { attributesIn, type SessionAttributes } from "./session-columns.ts";

export interface SessionRecord extends SessionAttributes {
  id: SessionId;
  firstPrompt: string | null;
  status: SessionStatus;
  workspace: Session["workspace"];
  owner: Principal;
  handover: Handover | null;
  /** Paths of its groups, longest-standing first. */
  groups: string[];
  createdAt: string;
  /** The current run. */
  run: number;
  pid: number | null;
  pidStart: string | null;
  outputPath: string | null;
  startedAt: string | null;
  endedAt: string | null;
  exit: Exit | null;
  stopRequested: boolean;
  lastActivityAt: string | null;
  restartAt: string | null;
  restartGivenUp: GivenUp | null;
  cause: EndCause | null;
  limitExceeded: string | null;
  /** Limits with a warning that they are near. */
  budgetWarned: BudgetLimit[];
  budgetExceeded: BudgetState["exceeded"];
  /** Start offset of the current run's recording, as last reported. */
  cutOffset: number;
  /** Offset up to which the journal has the current run's transcript. */
  transcriptOffset: number;
  /** Measured with the monotonic clock; null while it runs or if unknown. */
  durationMs: number | null;
  viewedAt: string | null;
  /** A failure that no person has seen. */
  failure: Session["failure"];
  /** Number of observed turn starts. See `turnsOf` for what it says about the real number. */
  turns: number;
  /** The run that got the first prompt; null if none, or unknown. */
  promptedRun: number | null;
  /** The last run that got a first prompt or a message; 0 for none; null if unknown. */
  spokenRun: number | null;
  tasksCompleted: number;
  progress: Progress | null;
  /** The run that was lost with its keeper or the machine, until a later run shows that the session is back. */
  lostRun: number | null;
  conversation: string | null;
  conversations: Session["conversations"];
  forkedFrom: ForkedFrom | null;
  statusAt: string | null;
  /** The known activity of the current run's agent. */
  standing: RecordedStanding | null;
  attachments: Attachment[];
  /** When the next run is due, on the monotonic clock. */
  restartDue: string | null;
}

export type RecordedStanding = Pick<
  EventData<"session.status_changed">,
  "turn" | "attention" | "background" | "hung" | "evidence" | "sinceBoot"
>;

export interface SessionFilter {
  names?: readonly string[] | undefined;
  all?: boolean;
  status?: readonly SessionStatus[] | undefined;
  agent?: readonly string[] | undefined;
  /** Also includes ended sessions with a failure that no person has seen. */
  unseen?: boolean;
}

const SELECT = `
  SELECT s.*, r.pid, r.pid_start, r.output_path, r.started_at, r.ended_at, r.exit_code, r.exit_signal, r.cause, r.stop_requested, r.limit_exceeded, r.last_activity_at, r.cut_offset, r.transcript_offset,
    r.duration_ms, r.ended_seq, r.status_at, r.standing, w.name AS workspace_name, w.branch AS workspace_branch,
    (SELECT json_group_array(json_object('id', a.id, 'principal', a.principal, 'role', a.role, 'since', a.since, 'terminal', a.terminal, 'from', a.origin)
       ORDER BY a.seq) FROM attachments a WHERE a.session = s.id) AS attachments,
    (SELECT json_group_array(m.path ORDER BY m.joined_seq) FROM group_members m WHERE m.session = s.id) AS groups
  FROM sessions s JOIN runs r ON r.session = s.id AND r.run = s.run LEFT JOIN workspaces w ON w.id = s.workspace`;

export const LIVE = "('starting', 'working', 'waiting', 'idle', 'unknown')";

/** Statuses that have not ended. A created session has no run yet, but will. */
export const OPEN = "('created', 'starting', 'working', 'waiting', 'idle', 'unknown')";

/** Most candidates in an error. */
const CANDIDATES = 10;

/** Limit for long periods without writes. */
const MOST_REMEMBERED = 1000;

export class SessionQueries {
  readonly #db: DatabaseSync;
  /** Keyed by the clauses after the join, a handful in total: preparing costs more than running. */
  readonly #statements = new Map<string, StatementSync>();
  #tree: StatementSync | undefined;
  /** Records read since the last write: one action reads the same session about two dozen times. */
  readonly #remembered = new Map<string, SessionRecord | undefined>();
  readonly #changes: StatementSync;
  #changesThen: unknown;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#changes = db.prepare("SELECT total_changes() AS n");
  }

  /**
   * Returns oldest first. Names are resolved or refused; then filters apply. Without names or filters, returns the sessions that have not ended. An
   * empty list selects nothing: a request for a few must never mean all.
   */
  select(filter: SessionFilter): SessionRecord[] {
    const unseen = filter.unseen ? " OR s.failure IS NOT NULL" : "";
    const chosen = filter.names
      ? filter.names.map((name) => this.resolve(name))
      : this.#read(filter.all || filter.status ? "" : `WHERE s.status IN ${OPEN} OR s.restart_at IS NOT NULL${unseen}`);
    const unique = [...new Map(chosen.map((record) => [record.id, record])).values()];
    return unique.filter((record) => (filter.status?.includes(record.status) ?? true) && (filter.agent?.includes(record.agent) ?? true));
  }

  live(): SessionRecord[] {
    return this.#read(`WHERE s.status IN ${LIVE}`);
  }

  /** Returns live sessions with a memory limit. */
  limited(): SessionRecord[] {
    return this.#read(`WHERE s.status IN ${LIVE} AND s.memory_limit IS NOT NULL`);
  }

  /** Returns sessions with a budget that run or are about to. */
  budgeted(): SessionRecord[] {
    return this.#read(`WHERE s.budget IS NOT NULL AND (s.status IN ${LIVE} OR s.restart_at IS NOT NULL)`);
  }

  /** Returns the total duration of earlier runs. For a lost run, uses wall-clock times. */
  formerRunsMs(id: SessionId, run: number): number {
    const sql = `SELECT sum(coalesce(duration_ms, max(0, (julianday(ended_at) - julianday(started_at)) * 86400000))) AS ms
                 FROM runs WHERE session = ? AND run < ?`;
    return Number(watched(this.#db, () => this.#db.prepare(sql).get(id, run))?.ms ?? 0);
  }

  /** Returns when the last counted turn began. */
  lastTurnAt(id: SessionId): string | null {
    const sql = "SELECT max(began_at) AS at FROM turns WHERE session = ?";
    return (watched(this.#db, () => this.#db.prepare(sql).get(id))?.at as string | null | undefined) ?? null;
  }

  /** Returns sessions with a scheduled next run. */
  restarting(): SessionRecord[] {
    return this.#read("WHERE s.restart_at IS NOT NULL");
  }

  /** Counts consecutive runs, up to and including `last`, that ended on their own in less than `ms`. */
  quickEnds(id: SessionId, options: { last: number; ms: number }): number {
    const sql = "SELECT started_at, ended_at, duration_ms, cause FROM runs WHERE session = ? AND run <= ? ORDER BY run DESC";
    let count = 0;
    for (const run of this.#db.prepare(sql).iterate(id, options.last)) {
      const byClock = run.started_at === null ? 0 : Date.parse(String(run.ended_at)) - Date.parse(String(run.started_at));
      const lasted = run.duration_ms === null ? byClock : Number(run.duration_ms);
      if (run.ended_at === null || run.cause === "stopped" || lasted >= options.ms) break;
      count++;
    }
    return count;
  }

  /** Returns sessions that have ended without a scheduled run, in the order of their ends. */
  ended(): SessionRecord[] {
    const rest = `WHERE s.status NOT IN ${OPEN} AND s.restart_at IS NULL ORDER BY r.ended_seq, s.created_seq`;
    return this.#all(rest);
  }

  /** Returns sessions that ended after this journal position. */
  endedAfter(seq: number): SessionRecord[] {
    return this.#read(`WHERE s.status NOT IN ${OPEN} AND r.ended_seq > CAST(? AS INTEGER)`, String(seq));
  }

  /** Returns lost sessions that are not back yet; some may be running. */
  lost(): SessionRecord[] {
    return this.#read("WHERE s.lost_run IS NOT NULL");
  }

  counts(): { running: number; ended: number; lost: number } {
    const counts = { running: 0, ended: 0, lost: 0 };
    const sql = "SELECT status, count(*) AS n, count(lost_run) AS lost FROM sessions GROUP BY status HAVING status <> 'created'";
    for (const row of watched(this.#db, () => this.#db.prepare(sql).all())) {
      const isOver = hasEnded(row.status as SessionStatus);
      counts[isOver ? "ended" : "running"] += Number(row.n);
      if (isOver) counts.lost += Number(row.lost);
    }
    return counts;
  }

  get(id: SessionId): SessionRecord | undefined {
    return this.#one("WHERE s.id = ?", id);
  }

  byName(name: string): SessionRecord | undefined {
    return this.#one("WHERE s.name = ?", name);
  }

  /** Returns the session with that exact name, else the one with that exact id. */
  named(ref: string): SessionRecord | undefined {
    return this.byName(ref.normalize("NFC")) ?? this.#one("WHERE s.id = ?", ref);
  }

  /** Returns a session and all its descendants. UNION, not UNION ALL: a cycle of parents would never end. */
  descendants(root: SessionId): SessionId[] {
    this.#tree ??= this.#db.prepare(
      "WITH RECURSIVE tree (id) AS (SELECT ? UNION SELECT s.id FROM sessions s JOIN tree ON s.parent = tree.id) SELECT id FROM tree",
    );
    return this.#tree.all(root).map((row) => sessionId(String(row.id)));
  }

  /** Returns the parent, its parent, and so on; nearest first. */
  ancestors(id: SessionId): SessionRecord[] {
    const found: SessionRecord[] = [];
    for (let parent = this.get(id)?.parent ?? null; parent !== null; parent = found.at(-1)?.parent ?? null) {
      const record = this.get(parent);
      if (!record || record.id === id || found.some((known) => known.id === record.id)) break;
      found.push(record);
    }
    return found;
  }

  /** Returns the records of a session and all its descendants, in the order of creation. */
  tree(root: SessionId): SessionRecord[] {
    return this.#read("WHERE s.id IN (SELECT value FROM json_each(?))", JSON.stringify(this.descendants(root)));
  }

  /** Returns how much of each run's transcript the journal has. */
  transcriptOffsets(session: SessionId): Map<number, number> {
    const rows = watched(this.#db, () =>
      this.#db.prepare("SELECT run, transcript_offset FROM runs WHERE session = ? AND transcript_offset > 0 ORDER BY run").all(session),
    );
    return new Map(rows.map(({ run, transcript_offset: offset }) => [Number(run), Number(offset)]));
  }

  children(parent: SessionId): SessionRecord[] {
    return this.#read("WHERE s.parent = ?", parent);
  }

  /** Returns sessions that work or worked in it, oldest first. */
  inWorkspace(id: WorkspaceId): SessionRecord[] {
    return this.#read("WHERE s.workspace = ?", id);
  }

  /** Resolves an exact name, else an exact id, else a unique id prefix. */
  resolve(ref: string): SessionRecord {
    const exact = this.named(ref);
    if (exact) return exact;
    const byPrefix = /^[a-z2-7]{1,9}$/.test(ref) ? this.#read("WHERE s.id >= ? AND s.id < ?", ref, `${ref}~`) : [];
    if (byPrefix.length === 1 && byPrefix[0]) return byPrefix[0];
    if (byPrefix.length > 1) {
      const candidates = byPrefix.map((record) => `${record.id} (${record.name})`);
      throw new HoldfastError("session_ambiguous", `${byPrefix.length} sessions have ids that begin with ${JSON.stringify(ref)}`, {
        hint: "use more of the id, or the name",
        candidates: candidates.slice(0, CANDIDATES),
      });
    }
    throw this.#notFound(ref);
  }

  #notFound(ref: string): HoldfastError {
    const names = this.#read("").map((record) => record.name);
    const alike = names.filter((name) => isAlike(name, ref));
    const candidates = (alike.length > 0 ? alike : names.slice(-CANDIDATES)).slice(0, CANDIDATES);
    return new HoldfastError("session_not_found", `no session has the name, id or id prefix ${JSON.stringify(ref)}`, {
      hint: names.length === 0 ? "there are no sessions yet; start one: holdfast run -- COMMAND" : "list sessions: holdfast ls --all",
      candidates,
    });
  }

  /** Does not cache inside a transaction, because its writes may be rolled back. */
  #one(where: string, value: string): SessionRecord | undefined {
    if (this.#db.isTransaction) return this.#read(where, value)[0];
    const changes = this.#changes.get()?.n;
    if (changes !== this.#changesThen || this.#remembered.size > MOST_REMEMBERED) this.#remembered.clear();
    this.#changesThen = changes;
    const key = `${where} ${value}`;
    const known = this.#remembered.get(key);
    if (known || this.#remembered.has(key)) return known;
    const [record] = this.#read(where, value);
    this.#remembered.set(key, record && Object.freeze(record));
    return record;
  }

  #read(where: string, ...values: string[]): SessionRecord[] {
    return this.#all(`${where} ORDER BY s.created_seq`, ...values);
  }

  #all(rest: string, ...values: string[]): SessionRecord[] {
    return watched(this.#db, () => {
      let statement = this.#statements.get(rest);
      if (!statement) {
        statement = this.#db.prepare(`${SELECT} ${rest}`);
        this.#statements.set(rest, statement);
      }
      return statement.all(...values).map(toRecord);
    });
  }
}

function toRecord(row: Record<string, unknown>): SessionRecord {
  return {
    ...attributesIn(row),
    id: sessionId(row.id as string),
    firstPrompt: row.first_prompt as string | null,
    status: row.status as SessionStatus,
    workspace:
      row.workspace_name == null
        ? null
        : { id: workspaceId(row.workspace as string), name: row.workspace_name as string, branch: row.workspace_branch as string | null },
    owner: principalOf(row.owner as string),
    handover: row.handover === null ? null : (JSON.parse(row.handover as string) as Handover),
    groups: JSON.parse(row.groups as string) as string[],
    createdAt: row.created_at as string,
    run: row.run as number,
    pid: row.pid as number | null,
    pidStart: row.pid_start as string | null,
    outputPath: row.output_path as string | null,
    startedAt: row.started_at as string | null,
    endedAt: row.ended_at as string | null,
    exit: exitOf(row),
    stopRequested: row.stop_requested === 1,
    lastActivityAt: row.last_activity_at as string | null,
    restartAt: row.restart_at as string | null,
    restartGivenUp: row.restart_given_up as GivenUp | null,
    cause: row.cause as EndCause | null,
    limitExceeded: row.limit_exceeded as string | null,
    budgetWarned: JSON.parse(row.budget_warned as string) as BudgetLimit[],
    budgetExceeded: row.budget_exceeded === null ? null : (JSON.parse(row.budget_exceeded as string) as BudgetState["exceeded"]),
    cutOffset: row.cut_offset as number,
    transcriptOffset: (row.transcript_offset as number | null) ?? 0,
    durationMs: row.duration_ms as number | null,
    viewedAt: row.viewed_at as string | null,
    failure: failureOf(row.failure as string | null),
    turns: row.turns as number,
    promptedRun: row.prompted_run as number | null,
    spokenRun: row.spoken_run as number | null,
    tasksCompleted: row.tasks_completed as number,
    progress: row.progress === null ? null : (JSON.parse(String(row.progress)) as Progress),
    conversation: row.conversation as string | null,
    lostRun: row.lost_run as number | null,
    conversations: conversationsOf(row),
    forkedFrom: row.forked_from === null ? null : (JSON.parse(row.forked_from as string) as ForkedFrom),
    statusAt: row.status_at as string | null,
    standing: row.standing === null ? null : (JSON.parse(row.standing as string) as RecordedStanding),
    restartDue: row.restart_due as string | null,
    attachments: JSON.parse(row.attachments as string) as Attachment[],
  };
}

/** Unknown (null) for conversations from before turns were counted per conversation. */
function conversationsOf(row: Record<string, unknown>): Session["conversations"] {
  const all = JSON.parse(row.conversations as string) as (Omit<Session["conversations"][number], "turns"> & { turns?: number | null })[];
  const spoken = row.spoken_run as number | null;
  // Text was handed over, but no turn was observed, so the number is unknown. A protocol reports every turn.
  const isUnknown = (run: number) => row.kind !== "conversation" && (spoken === null || spoken >= run);
  return all.map((one) => ({ ...one, turns: one.turns === undefined || (one.turns === 0 && isUnknown(one.run)) ? null : one.turns }));
}

/** A program that exited has an exit even if its keeper could not tell which (a signal, on tmux before 3.3). */
function exitOf(row: Record<string, unknown>): Exit | null {
  if (row.exit_code === null && row.exit_signal === null && row.cause !== "exited") return null;
  return { code: row.exit_code as number | null, signal: row.exit_signal as string | null };
}

/** True if the two differ by a typing error, or one contains the other. */
function isAlike(name: string, ref: string): boolean {
  const a = name.toLowerCase();
  const b = ref.toLowerCase();
  return b.length > 1 && (a.includes(b) || b.includes(a) || (Math.abs(a.length - b.length) <= 2 && editDistance(a, b) <= 2));
}

function failureOf(text: string | null): Session["failure"] {
  if (text === null) return null;
  const { what, why, at } = JSON.parse(text) as NonNullable<Session["failure"]>;
  return { what, why, at };
}
