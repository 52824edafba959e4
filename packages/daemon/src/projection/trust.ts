/** Trusted actions of projects, derived from `trust.*` events, which are never pruned. */
import type { DatabaseSync } from "node:sqlite";
import { principalOf, type Trust } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";

export const trustProjection: Projection = {
  tables: ["trust"],
  kept: ["trust.added", "trust.revoked"],
  apply(db, { type, data, at, seq, actor }) {
    if (type === "trust.added") {
      const { directory, hash, setup, copy, agent } = data;
      const sql = "INSERT OR IGNORE INTO trust (directory, hash, setup, copy, at, actor, seq, agent) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
      db.prepare(sql).run(directory, hash, setup, JSON.stringify(copy), at, actor, seq, agent === undefined ? null : JSON.stringify(agent));
    } else if (type === "trust.revoked") {
      db.prepare("DELETE FROM trust WHERE directory = ? AND hash = ?").run(data.directory, data.hash);
    }
  },
};

export class TrustQueries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  list(): Trust[] {
    return watched(this.#db, () => this.#db.prepare("SELECT * FROM trust ORDER BY seq").all()).map(toTrust);
  }

  get({ directory, hash }: Pick<Trust, "directory" | "hash">): Trust | undefined {
    const sql = "SELECT * FROM trust WHERE directory = ? AND hash = ?";
    const row = watched(this.#db, () => this.#db.prepare(sql).get(directory, hash));
    return row && toTrust(row);
  }
}

function toTrust(row: Record<string, unknown>): Trust {
  return {
    directory: String(row.directory),
    hash: String(row.hash),
    setup: row.setup as string | null,
    copy: JSON.parse(String(row.copy)) as string[],
    ...(row.agent === null ? {} : { agent: JSON.parse(String(row.agent)) as Trust["agent"] }),
    at: String(row.at),
    by: principalOf(row.actor as string),
  };
}
