import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Prepares a projection's statements once per database, because preparing costs more than running. */
export function statementsOf<N extends string>(sql: Readonly<Record<N, string>>): (db: DatabaseSync) => Record<N, StatementSync> {
  const prepared = new WeakMap<DatabaseSync, Record<N, StatementSync>>();
  return (db) => {
    let statements = prepared.get(db);
    if (!statements) {
      const all = Object.entries<string>(sql).map(([name, text]) => [name, db.prepare(text)]);
      statements = Object.fromEntries(all) as Record<N, StatementSync>;
      prepared.set(db, statements);
    }
    return statements;
  };
}
