/**
 * Makes a checkpoint at the end of each turn in a worktree, and one before the first turn. It follows the journal, so that neither status nor
 * delivery waits for git. Each workspace gets one checkpoint at a time; turns that end faster than git works share one, for the last turn. An agent
 * whose turns cannot be observed gets no automatic checkpoints.
 *
 * If a daemon dies between a turn's end and its checkpoint, the next daemon makes the missing checkpoint. Removing a session removes its
 * checkpoints, except the workspace's newest; removing the workspace removes all.
 */
import { existsSync } from "node:fs";
import {
  type AnyEvent,
  type Checkpoint,
  DAEMON,
  type EventData,
  type HoldfastError,
  hasEnded,
  type SessionId,
  type WorkspaceId,
} from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import type { Journal } from "../../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import type { WorkspaceQueries, WorkspaceRecord } from "../../projection/workspaces.ts";
import { listAllCheckpoints, removeCheckpoints, removeCheckpointsOf } from "./checkpoints.ts";
import type { Checkpoints } from "./workspace-checkpoints.ts";

const FOLLOWED = ["session.created", "session.status_changed", "session.ended", "session.removed", "workspace.removed"];
const BATCH = 500;

/** Workspaces processed at once: each reads many files. */
const AT_ONCE = 2;

interface Followed {
  workspace: WorkspaceId;
  working: boolean;
  turns: number;
}

/** A checkpoint to make. `turn` null: the first checkpoint, if there is none yet. */
interface Due {
  session: SessionId;
  turn: number | null;
}

export class TurnCheckpoints implements Disposable {
  readonly #journal: Journal;
  readonly #sessions: SessionQueries;
  readonly #workspaces: WorkspaceQueries;
  readonly #checkpoints: Checkpoints;
  readonly #followed = new Map<SessionId, Followed>();
  /** Workspaces known to have a checkpoint. */
  readonly #begun = new Set<WorkspaceId>();
  readonly #due = new Map<WorkspaceId, Due>();
  readonly #busy = new Set<WorkspaceId>();
  readonly #ending = new AbortController();

  constructor(options: { journal: Journal; sessions: SessionQueries; workspaces: WorkspaceQueries; checkpoints: Checkpoints }) {
    this.#journal = options.journal;
    this.#sessions = options.sessions;
    this.#workspaces = options.workspaces;
    this.#checkpoints = options.checkpoints;
  }

  begin(): void {
    const { seq } = this.#journal.cursor;
    const records = this.#sessions.select({ all: true }).filter(({ workspace }) => workspace !== null);
    for (const record of records) this.#follow(record);
    this.#catchUp(records).catch((error: unknown) => log(`checkpoints: ${describe(error)}`));
    this.#read(seq).catch((error: unknown) => log(`checkpoints are no longer created: ${describe(error)}`));
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    this.#due.clear();
  }

  async #read(from: number): Promise<void> {
    const { signal } = this.#ending;
    for (let seq = from; ; ) {
      await this.#journal.changed(seq, signal);
      if (signal.aborted) return;
      const end = this.#journal.cursor.seq;
      const events = this.#journal.readAfter(seq, BATCH, { types: FOLLOWED });
      for (const event of events) this.#take(event);
      seq = events.length === BATCH ? (events.at(-1)?.seq ?? end) : end;
    }
  }

  #take({ type, session, data }: AnyEvent): void {
    if (type === "workspace.removed") this.#forgetWorkspace((data as EventData<"workspace.removed">).id);
    if (session === null) return;
    if (type === "session.created") {
      const record = this.#sessions.get(session);
      // The following events report its later status.
      if (record) this.#follow({ ...record, standing: null, turns: 0 });
    }
    const followed = this.#followed.get(session);
    if (!followed) return;
    if (type === "session.status_changed") this.#changed(session, followed, data as EventData<"session.status_changed">);
    else if (type === "session.ended") this.#ended(session, followed);
    else if (type === "session.removed") this.#forgetSession(session, followed);
  }

  #follow({ id, workspace, standing, turns }: Pick<SessionRecord, "id" | "workspace" | "standing" | "turns">): void {
    if (workspace === null || this.#workspaces.get(workspace.id)?.kind !== "worktree" || this.#followed.has(id)) return;
    this.#followed.set(id, { workspace: workspace.id, working: standing?.turn === "working", turns });
  }

  #changed(session: SessionId, followed: Followed, { turn, turnBegan }: EventData<"session.status_changed">): void {
    if (turnBegan) followed.turns++;
    const ended = followed.working && turn !== "working";
    followed.working = turn === "working";
    if (ended) this.#order(followed.workspace, { session, turn: followed.turns });
    else if (turn !== null && !this.#begun.has(followed.workspace)) this.#order(followed.workspace, { session, turn: null });
  }

  /** A session's end also ends its turn. */
  #ended(session: SessionId, followed: Followed): void {
    if (followed.working) this.#order(followed.workspace, { session, turn: followed.turns });
    followed.working = false;
  }

  #order(workspace: WorkspaceId, due: Due): void {
    if (due.turn === null && this.#due.has(workspace)) return;
    this.#due.set(workspace, due);
    this.#makeDue();
  }

  #makeDue(): void {
    for (const [workspace, due] of this.#due) {
      if (this.#busy.size >= AT_ONCE) return;
      if (this.#busy.has(workspace)) continue;
      this.#due.delete(workspace);
      this.#busy.add(workspace);
      const done = () => {
        this.#busy.delete(workspace);
        this.#makeDue();
      };
      this.#make(workspace, due).then(done, (error: unknown) => {
        // Removed in the meantime: nothing to save.
        if ((error as HoldfastError).code !== "workspace_removed")
          log(`workspace ${workspace}: no checkpoint of turn ${due.turn} of session ${due.session}: ${describe(error)}`);
        done();
      });
    }
  }

  async #make(id: WorkspaceId, { session, turn }: Due): Promise<void> {
    const record = this.#workspaces.get(id);
    if (!record) return;
    if (turn !== null) {
      await this.#checkpoints.create(record, { why: "turn", session, turn, actor: DAEMON });
    } else {
      const { checkpoints } = await this.#checkpoints.list(record, { now: false });
      if (checkpoints.length === 0) await this.#checkpoints.create(record, { why: "start", session, actor: DAEMON });
    }
    this.#begun.add(id);
  }

  #forgetSession(session: SessionId, { workspace }: Followed): void {
    this.#followed.delete(session);
    this.#remove(workspace, () => this.#removeOf(workspace, session));
  }

  #forgetWorkspace(id: WorkspaceId): void {
    this.#begun.delete(id);
    this.#due.delete(id);
    const repo = this.#workspaces.get(id)?.repo;
    if (repo) this.#remove(id, () => removeCheckpoints(repo, id));
  }

  #remove(workspace: WorkspaceId, work: () => Promise<unknown>): void {
    const failed = (error: unknown) => log(`workspace ${workspace}: its old checkpoints could not be removed: ${describe(error)}`);
    this.#checkpoints.inLine(workspace, work).catch(failed);
  }

  async #removeOf(workspace: WorkspaceId, session: SessionId): Promise<void> {
    const record = this.#workspaces.get(workspace);
    if (record?.removedAt === null && existsSync(record.path)) await removeCheckpointsOf(this.#checkpoints.placeOf(record), session);
  }

  /** Makes and removes the checkpoints that the last daemon missed. */
  async #catchUp(records: readonly SessionRecord[]): Promise<void> {
    const workspaces = this.#workspaces.list({ all: true }).filter(({ kind }) => kind === "worktree");
    const repositories = new Set(workspaces.flatMap(({ repo }) => (repo !== null && existsSync(repo) ? [repo] : [])));
    for (const repo of repositories) {
      const all = await listAllCheckpoints(repo);
      for (const workspace of workspaces.filter((one) => one.repo === repo)) {
        if (this.#ending.signal.aborted) return;
        this.#catchUpWith(workspace, all.get(workspace.id) ?? [], records);
      }
    }
  }

  #catchUpWith({ id, removedAt }: WorkspaceRecord, kept: readonly Checkpoint[], records: readonly SessionRecord[]): void {
    if (removedAt !== null) {
      if (kept.length > 0) this.#forgetWorkspace(id);
      return;
    }
    if (kept.length > 0) this.#begun.add(id);
    const gone = new Set(kept.slice(0, -1).flatMap(({ session }) => (session !== null && this.#isRemoved(session) ? [session] : [])));
    for (const session of gone) this.#remove(id, () => this.#removeOf(id, session));
    const turns = records.filter(({ workspace }) => workspace?.id === id).flatMap(lastTurn);
    const last = turns.sort((a, b) => (a.at < b.at ? -1 : 1)).at(-1);
    if (last && (kept.at(-1)?.at ?? "") < last.at) this.#order(id, { session: last.session, turn: last.turn });
  }

  /** True only if the journal has the removal. Data lost from a damaged journal is no reason to delete anything. */
  #isRemoved(session: SessionId): boolean {
    return this.#sessions.get(session) === undefined && this.#journal.readAfter(0, 1, { session, types: ["session.removed"] }).length > 0;
  }
}

interface EndedTurn {
  session: SessionId;
  turn: number;
  at: string;
}

/** Returns nothing for a session in a turn or without turns. */
function lastTurn({ id, turns, standing, status, statusAt, endedAt }: SessionRecord): EndedTurn[] {
  const at = hasEnded(status) ? endedAt : standing?.turn === "idle" ? statusAt : null;
  return turns > 0 && at !== null ? [{ session: id, turn: turns, at }] : [];
}
