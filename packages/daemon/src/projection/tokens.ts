/** Named tokens, derived from `token.*` events. A revoked token keeps its row, for error messages to its users and for the audit. */
import type { DatabaseSync } from "node:sqlite";
import { principalOf, type Scope, type Token } from "@holdfast/contract";
import type { Projection } from "../journal/journal.ts";

export const tokensProjection: Projection = {
  tables: ["tokens"],
  kept: ["token.created", "token.revoked", "token.expired"],
  apply(db, { type, data, at, actor, seq }) {
    if (type === "token.created") {
      db.prepare(
        "INSERT INTO tokens (id, name, scope, hash, created_at, created_by, created_seq, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ).run(data.id, data.name, data.scope, data.hash, at, actor, seq, data.expiresAt);
    } else if (type === "token.revoked") {
      db.prepare("UPDATE tokens SET revoked_at = ? WHERE id = ?").run(at, data.id);
    } else if (type === "token.expired") {
      db.prepare("UPDATE tokens SET expired = 1 WHERE id = ?").run(data.id);
    }
  },
};

export class TokenQueries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Oldest first. */
  list(): Token[] {
    return this.#db.prepare("SELECT * FROM tokens ORDER BY created_seq").all().map(toToken);
  }

  /** `expired`: stays true once detected, whatever the clock says. */
  get(id: string): (Token & { hash: string; expired: boolean }) | undefined {
    const row = this.#db.prepare("SELECT * FROM tokens WHERE id = ?").get(id);
    return row && { ...toToken(row), hash: row.hash as string, expired: row.expired === 1 };
  }

  /** Returns tokens with an expiry time that are neither revoked nor known to have expired. */
  expiring(): Token[] {
    const rows = this.#db
      .prepare("SELECT * FROM tokens WHERE expires_at IS NOT NULL AND revoked_at IS NULL AND expired = 0 ORDER BY created_seq")
      .all();
    return rows.map(toToken);
  }

  /** Finds a token that is not revoked, by name, else by id. */
  find(ref: string): Token | undefined {
    const live = this.list().filter((token) => token.revokedAt === null);
    return live.find(({ name }) => name === ref.normalize("NFC")) ?? live.find(({ id }) => id === ref);
  }
}

function toToken(row: Record<string, unknown>): Token {
  return {
    id: row.id as string,
    name: row.name as string,
    scope: row.scope as Scope,
    createdAt: row.created_at as string,
    createdBy: principalOf(row.created_by as string),
    expiresAt: row.expires_at as string | null,
    revokedAt: row.revoked_at as string | null,
  };
}
