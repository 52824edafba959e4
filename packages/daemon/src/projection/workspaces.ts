/** Workspaces, derived from `workspace.*` events. A removed workspace keeps its row: it can be recovered, and its sessions still name it. */
import type { DatabaseSync } from "node:sqlite";
import {
  HoldfastError,
  type HoldfastEvent,
  type Principal,
  principalOf,
  type Setup,
  type TournamentId,
  type WorkspaceId,
  type WorkspaceSpec,
  workspaceId,
} from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";
import { OPEN } from "./session-queries.ts";
import { insertRow } from "./sessions.ts";

export const workspacesProjection: Projection = {
  tables: ["workspaces"],
  kept: [
    "workspace.created",
    "workspace.rebuilt",
    "workspace.setup_started",
    "workspace.setup_ended",
    "workspace.merged",
    "workspace.removed",
    "workspace.recovered",
    "workspace.forgotten",
    "workspace.stash_taken",
    "workspace.conflicts_changed",
  ],
  apply(db, event) {
    const apply = APPLY[event.type] as ((db: DatabaseSync, e: HoldfastEvent) => void) | undefined;
    apply?.(db, event);
  },
};

type Apply = { [T in HoldfastEvent["type"]]?: (db: DatabaseSync, event: Extract<HoldfastEvent, { type: T }>) => void };

const APPLY: Apply = {
  "workspace.created": (db, { data, actor, at, seq }) => insert(db, data, { owner: actor, at, seq }),
  "workspace.rebuilt": (db, { data, seq }) => insert(db, data, { owner: data.owner, at: data.createdAt, seq }),
  "workspace.setup_started"(db, { data }) {
    const sql = "UPDATE workspaces SET setup_command = ?, setup_state = 'running', setup_exit = NULL WHERE id = ?";
    db.prepare(sql).run(data.command, data.id);
  },
  "workspace.setup_ended"(db, { data }) {
    db.prepare("UPDATE workspaces SET setup_state = ?, setup_exit = ? WHERE id = ?").run(data.state, data.exitCode, data.id);
  },
  "workspace.merged"(db, { data, at }) {
    const sql = "UPDATE workspaces SET merged_at = ?, merged_tip = ?, merged_commit = ? WHERE id = ?";
    db.prepare(sql).run(at, data.tip, data.commit, data.id);
  },
  "workspace.removed"(db, { data, at }) {
    const sql = "UPDATE workspaces SET removed_at = ?, recovery_ref = ?, conflicts = '[]', base_conflicts = '[]' WHERE id = ?";
    db.prepare(sql).run(at, data.ref, data.id);
  },
  "workspace.recovered"(db, { data }) {
    const again =
      "own_branch = coalesce(?, own_branch), port_base = coalesce(?, port_base), ports = coalesce(?, ports), name = ?, branch = ?, path = ?";
    const own = data.ownBranch === undefined ? null : Number(data.ownBranch);
    const sql = `UPDATE workspaces SET removed_at = NULL, recovery_ref = NULL, ${again} WHERE id = ?`;
    db.prepare(sql).run(own, data.portBase ?? null, data.ports ?? null, data.name, data.branch, data.path, data.id);
  },
  "workspace.forgotten"(db, { data }) {
    db.prepare("UPDATE workspaces SET recovery_ref = NULL WHERE id = ?").run(data.id);
  },
  "workspace.stash_taken"(db, { data }) {
    const note = `a stash of this workspace was popped in another workspace; to get it back: git stash apply ${data.commit}`;
    db.prepare("UPDATE workspaces SET notes = json_insert(notes, '$[#]', ?) WHERE id = ?").run(note, data.id);
  },
  "workspace.conflicts_changed"(db, { data }) {
    const sql = "UPDATE workspaces SET conflicts = ?, base_conflicts = ? WHERE id = ?";
    db.prepare(sql).run(JSON.stringify(data.conflicts), JSON.stringify(data.base), data.id);
  },
};

function insert(db: DatabaseSync, spec: WorkspaceSpec, { owner, at, seq }: { owner: string; at: string; seq: number }): void {
  insertRow(db, "workspaces", {
    id: spec.id,
    name: spec.name,
    kind: spec.kind,
    path: spec.path,
    repo: spec.repo,
    branch: spec.branch,
    own_branch: spec.ownBranch ? 1 : 0,
    base: spec.base,
    base_commit: spec.baseCommit,
    port_base: spec.portBase,
    ports: spec.ports,
    notes: JSON.stringify(spec.notes),
    tournament: spec.tournament === undefined ? null : JSON.stringify(spec.tournament),
    owner,
    created_at: at,
    created_seq: seq,
  });
}

export interface WorkspaceRecord extends WorkspaceSpec {
  owner: Principal;
  createdAt: string;
  setup: Omit<Setup, "log"> | null;
  mergedAt: string | null;
  /** The branch's commit when it was merged. */
  mergedTip: string | null;
  /** The resulting commit on the branch it was merged into. */
  mergedCommit: string | null;
  removedAt: string | null;
  recoveryRef: string | null;
  conflicts: { workspace: WorkspaceId; files: string[] }[];
  baseConflicts: string[];
}

/** Most candidates in an error. */
const CANDIDATES = 10;

export class WorkspaceQueries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Lists oldest first; with `all`, also removed workspaces. */
  list({ all = false }: { all?: boolean } = {}): WorkspaceRecord[] {
    return this.#read(all ? "" : "WHERE removed_at IS NULL");
  }

  get(id: WorkspaceId): WorkspaceRecord | undefined {
    return this.#read("WHERE id = ?", id)[0];
  }

  byName(name: string): WorkspaceRecord | undefined {
    return this.#read("WHERE name = ? AND removed_at IS NULL", name.normalize("NFC"))[0];
  }

  /** Returns the innermost workspace that contains the path. */
  containing(path: string): WorkspaceRecord | undefined {
    const holds = this.list().filter((workspace) => path === workspace.path || path.startsWith(`${workspace.path}/`));
    return holds.sort((a, b) => b.path.length - a.path.length)[0];
  }

  /** Returns a tournament's workspaces, oldest first, including removed ones. */
  ofTournament(id: TournamentId): WorkspaceRecord[] {
    return this.#read("WHERE json_extract(tournament, '$.id') = ?", id);
  }

  /** Returns the names of its sessions that have not ended. */
  sessionsOf(id: WorkspaceId): string[] {
    const sql = `SELECT name FROM sessions WHERE workspace = ? AND (status IN ${OPEN} OR restart_at IS NOT NULL) ORDER BY created_seq`;
    return watched(this.#db, () => this.#db.prepare(sql).all(id)).map((row) => row.name as string);
  }

  /**
   * Resolves a name, an id or a unique id prefix; with `all`, the newest removed workspace of a name. `known`: true for workspaces that the caller
   * may see.
   */
  resolve(ref: string, options: { all?: boolean; known?(record: WorkspaceRecord): boolean } = {}): WorkspaceRecord {
    const { all = false, known: isKnown = () => true } = options;
    const exact = this.byName(ref) ?? this.#found(ref, all);
    if (exact) return exact;
    const known = this.list({ all }).filter(isKnown);
    const byPrefix = ref === "" ? [] : known.filter(({ id }) => id.startsWith(ref));
    if (byPrefix.length === 1 && byPrefix[0]) return byPrefix[0];
    const several = byPrefix.length > 1;
    const names = (several ? byPrefix : known).map(({ id, name }) => (several ? `${id} (${name})` : name));
    throw new HoldfastError(
      several ? "workspace_ambiguous" : "workspace_not_found",
      several
        ? `${byPrefix.length} workspaces have ids that begin with ${JSON.stringify(ref)}`
        : `no workspace has the name, id or id prefix ${JSON.stringify(ref)}`,
      {
        hint: several
          ? "use more of the id, or the name"
          : known.length === 0
            ? "there are no workspaces yet; create one: holdfast workspace create"
            : "list workspaces: holdfast workspace ls",
        candidates: names.slice(-CANDIDATES),
      },
    );
  }

  #found(ref: string, all: boolean): WorkspaceRecord | undefined {
    const byId = this.#read("WHERE id = ?", ref)[0];
    if (byId && (all || byId.removedAt === null)) return byId;
    return all ? this.#read("WHERE name = ?", ref.normalize("NFC")).at(-1) : undefined;
  }

  #read(where: string, ...values: string[]): WorkspaceRecord[] {
    const sql = `SELECT * FROM workspaces ${where} ORDER BY created_seq`;
    return watched(this.#db, () => this.#db.prepare(sql).all(...values)).map(toRecord);
  }
}

function toRecord(row: Record<string, unknown>): WorkspaceRecord {
  return {
    id: workspaceId(row.id as string),
    name: row.name as string,
    kind: row.kind as WorkspaceRecord["kind"],
    path: row.path as string,
    repo: row.repo as string | null,
    branch: row.branch as string | null,
    ownBranch: row.own_branch === 1,
    base: row.base as string | null,
    baseCommit: row.base_commit as string | null,
    portBase: row.port_base as number,
    ports: row.ports as number,
    notes: JSON.parse(row.notes as string) as string[],
    ...(row.tournament === null ? {} : { tournament: JSON.parse(row.tournament as string) as NonNullable<WorkspaceSpec["tournament"]> }),
    owner: principalOf(row.owner as string),
    createdAt: row.created_at as string,
    setup:
      row.setup_command === null
        ? null
        : {
            command: row.setup_command as string,
            state: row.setup_state as Setup["state"],
            exitCode: row.setup_exit as number | null,
          },
    mergedAt: row.merged_at as string | null,
    mergedTip: row.merged_tip as string | null,
    mergedCommit: row.merged_commit as string | null,
    removedAt: row.removed_at as string | null,
    recoveryRef: row.recovery_ref as string | null,
    conflicts: JSON.parse(row.conflicts as string) as WorkspaceRecord["conflicts"],
    baseConflicts: JSON.parse(row.base_conflicts as string) as string[],
  };
}
