/**
 * Tournaments, derived from `tournament.*` events, or from rebuilt workspaces if only their files are left. They are never removed, because they
 * record what was kept.
 */
import type { DatabaseSync } from "node:sqlite";
import {
  HoldfastError,
  type HoldfastEvent,
  type Principal,
  principalOf,
  type TournamentId,
  tournamentId,
  type WorkspaceId,
  workspaceId,
} from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";
import { insertRow } from "./sessions.ts";

export const tournamentsProjection: Projection = {
  tables: ["tournaments"],
  kept: ["tournament.started", "tournament.kept"],
  apply(db, event) {
    const apply = APPLY[event.type] as ((db: DatabaseSync, e: HoldfastEvent) => void) | undefined;
    apply?.(db, event);
  },
};

type Apply = { [T in HoldfastEvent["type"]]?: (db: DatabaseSync, event: Extract<HoldfastEvent, { type: T }>) => void };

const APPLY: Apply = {
  "tournament.started"(db, { data, actor, at, seq }) {
    const { id, name, prompt, repo, base, baseCommit, agents } = data;
    insertRow(db, "tournaments", {
      id,
      name,
      prompt,
      repo,
      base,
      base_commit: baseCommit,
      agents: JSON.stringify(agents),
      owner: actor,
      started_at: at,
      started_seq: seq,
    });
  },
  "workspace.rebuilt"(db, { data, seq }) {
    const { tournament, repo, base, baseCommit, owner, createdAt } = data;
    if (tournament === undefined) return;
    const known = db.prepare("SELECT agents, prompt FROM tournaments WHERE id = ?").get(tournament.id);
    if (known && known.prompt !== null) return;
    const agents = known ? (JSON.parse(known.agents as string) as string[]) : [];
    while (agents.length < tournament.number) agents.push("?");
    agents[tournament.number - 1] = tournament.agent;
    const row = { repo, base, base_commit: baseCommit, agents: JSON.stringify(agents), owner, started_at: createdAt, started_seq: seq };
    db.prepare("DELETE FROM tournaments WHERE id = ?").run(tournament.id);
    insertRow(db, "tournaments", { id: tournament.id, name: tournament.name, ...row });
  },
  "tournament.kept"(db, { data, at }) {
    db.prepare("UPDATE tournaments SET kept = ?, kept_at = ? WHERE id = ?").run(data.workspace, at, data.id);
  },
};

export interface TournamentRecord {
  id: TournamentId;
  name: string;
  prompt: string | null;
  repo: string | null;
  base: string | null;
  baseCommit: string | null;
  /** The agent of each entry, in order. */
  agents: string[];
  owner: Principal;
  startedAt: string;
  kept: WorkspaceId | null;
  keptAt: string | null;
}

const CANDIDATES = 10;

export class TournamentQueries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Oldest first. */
  list({ all = false }: { all?: boolean } = {}): TournamentRecord[] {
    return this.#read(all ? "" : "WHERE kept IS NULL");
  }

  get(id: TournamentId): TournamentRecord | undefined {
    return this.#read("WHERE id = ?", id)[0];
  }

  /** Returns the newest of that name. */
  byName(name: string): TournamentRecord | undefined {
    return this.#read("WHERE name = ?", name.normalize("NFC")).at(-1);
  }

  /** `isKnown`: true for tournaments that the caller may see. */
  resolve(ref: string, isKnown: (record: TournamentRecord) => boolean = () => true): TournamentRecord {
    const found = this.byName(ref) ?? this.#read("WHERE id = ?", ref)[0];
    if (found) return found;
    const names = this.list({ all: true })
      .filter(isKnown)
      .map(({ name }) => name);
    throw new HoldfastError("tournament_not_found", `no tournament and no entry has the name or id ${JSON.stringify(ref)}`, {
      hint:
        names.length === 0
          ? "there are no tournaments yet; start one: holdfast spawn claude --best-of 3 --prompt TEXT"
          : "list tournaments: holdfast compare --all",
      candidates: names.slice(-CANDIDATES),
    });
  }

  #read(where: string, ...values: string[]): TournamentRecord[] {
    const sql = `SELECT * FROM tournaments ${where} ORDER BY started_seq`;
    return watched(this.#db, () => this.#db.prepare(sql).all(...values)).map((row) => ({
      id: tournamentId(row.id as string),
      name: row.name as string,
      prompt: row.prompt as string | null,
      repo: row.repo as string | null,
      base: row.base as string | null,
      baseCommit: row.base_commit as string | null,
      agents: JSON.parse(row.agents as string) as string[],
      owner: principalOf(row.owner as string),
      startedAt: row.started_at as string,
      kept: row.kept === null ? null : workspaceId(row.kept as string),
      keptAt: row.kept_at as string | null,
    }));
  }
}
