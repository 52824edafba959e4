import type { DatabaseSync, StatementSync } from "node:sqlite";

/** The statements of a projection, prepared once for each database: preparing one costs more than running it. */
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
