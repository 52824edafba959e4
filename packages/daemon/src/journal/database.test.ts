import { spawnSync } from "node:child_process";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { isDamage, migrate, onDamage, openDatabase, transaction, watched } from "./database.ts";
import { MIGRATIONS } from "./migrations.ts";

function schema(db: DatabaseSync): unknown[] {
  return db.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").all();
}

function version(db: DatabaseSync): unknown {
  return db.prepare("PRAGMA user_version").get()?.user_version;
}

test("a new database gets the whole schema", () => {
  const db = openDatabase(":memory:");
  expect(version(db)).toBe(MIGRATIONS.length);
  expect(schema(db).length).toBeGreaterThan(0);
});

test.each(MIGRATIONS.map((_, index) => index + 1))("a database of schema %i migrates to the same schema as a new one", (released) => {
  const db = new DatabaseSync(":memory:");
  migrate(db, MIGRATIONS.slice(0, released));
  expect(version(db)).toBe(released);
  migrate(db);
  expect(schema(db)).toEqual(schema(openDatabase(":memory:")));
});

test("migrations run once, in order, and keep existing data", () => {
  const db = new DatabaseSync(":memory:");
  const steps = ["CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES ('one')", "ALTER TABLE t ADD COLUMN b TEXT"];
  for (const upTo of [1, 2, 2, 3, 3]) migrate(db, steps.slice(0, upTo));
  expect(db.prepare("SELECT * FROM t").all()).toEqual([{ a: "one", b: null }]);
});

test("a migration that fails halfway leaves the version and the tables unchanged", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, ["CREATE TABLE t (a TEXT)"]);
  const before = schema(db);
  expect(() => migrate(db, ["CREATE TABLE t (a TEXT)", "CREATE TABLE u (a TEXT); INSERT INTO nowhere VALUES (1)"])).toThrow("nowhere");
  expect([version(db), schema(db)]).toEqual([1, before]);
  migrate(db, ["CREATE TABLE t (a TEXT)", "CREATE TABLE u (a TEXT)"]);
  expect(version(db)).toBe(2);
});

test("a database of a newer Holdfast is refused and not changed", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const path = join(directory.path, "holdfast.db");
  const newer = openDatabase(path);
  newer.exec(`CREATE TABLE later (a TEXT); PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  const before = schema(newer);
  newer.close();
  expect(() => openDatabase(path)).toThrow(
    expect.objectContaining({ code: "daemon_outdated", hint: expect.stringContaining("nothing was changed") }),
  );
  const after = new DatabaseSync(path);
  expect([version(after), schema(after)]).toEqual([MIGRATIONS.length + 1, before]);
  after.close();
});

test("a database of another program is refused, not changed, and not kept open", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const path = join(directory.path, "holdfast.db");
  const other = new DatabaseSync(path);
  other.exec("CREATE TABLE t (a TEXT)");
  other.exec("PRAGMA user_version = 0; CREATE TABLE events (x TEXT)");
  other.close();
  expect(() => openDatabase(path)).toThrow("already exists");
  const again = new DatabaseSync(path);
  expect(again.prepare("SELECT name FROM sqlite_schema ORDER BY name").all()).toEqual([{ name: "events" }, { name: "t" }]);
  again.close();
});

test("a transaction that throws is rolled back and leaves the connection usable", () => {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE t (a INTEGER)");
  const fail = () =>
    transaction(db, () => {
      db.exec("INSERT INTO t VALUES (1)");
      throw new Error("no");
    });
  expect(fail).toThrow("no");
  expect(transaction(db, () => db.prepare("INSERT INTO t VALUES (2)").run().changes)).toBe(1);
  expect(db.prepare("SELECT a FROM t").all()).toEqual([{ a: 2 }]);
});

test("a killed writer loses no committed data, and leaves no uncommitted data", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const path = join(directory.path, "holdfast.db");
  const writer = `
    import { openDatabase, transaction } from ${JSON.stringify(join(import.meta.dirname, "database.ts"))};
    const db = openDatabase(${JSON.stringify(path)});
    const insert = db.prepare("INSERT INTO meta VALUES (?, 'x')");
    transaction(db, () => insert.run("committed"));
    transaction(db, () => { insert.run("not committed"); process.kill(process.pid, "SIGKILL"); });
  `;
  expect(spawnSync(process.execPath, ["--input-type=module", "-e", writer]).signal).toBe("SIGKILL");
  const db = openDatabase(path);
  expect(db.prepare("SELECT key FROM meta").all()).toEqual([{ key: "committed" }]);
  db.close();
});

test("a query that finds damage fails with journal_damaged and calls the listener", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const path = join(directory.path, "holdfast.db");
  const writer = openDatabase(path);
  const insert = writer.prepare("INSERT INTO meta VALUES (?, ?)");
  for (let i = 0; i < 500; i++) insert.run(`key ${i}`, "x".repeat(500));
  writer.close();
  const file = readFileSync(path);
  file.fill(0xa5, file.length - 40 * 4096);
  writeFileSync(path, file);
  const db = new DatabaseSync(path);
  const found: Error[] = [];
  onDamage(db, (error) => found.push(error));
  const damaged = expect.objectContaining({ code: "journal_damaged", hint: expect.stringContaining("try again") });
  expect(() => watched(db, () => db.prepare("SELECT * FROM meta").all())).toThrow(damaged);
  expect(() => transaction(db, () => db.exec("DELETE FROM meta"))).toThrow(damaged);
  expect(found.map(isDamage)).toEqual([true, true]);
  expect(() => watched(db, () => db.prepare("SELECT nonsense"))).toThrow("no such column");
  expect(found).toHaveLength(2);
  db.close();
});

test("a statement is prepared once and follows schema changes", () => {
  const db = openDatabase(":memory:");
  const all = () => db.prepare("SELECT * FROM grown");
  db.exec("CREATE TABLE grown (a INTEGER); INSERT INTO grown VALUES (1), (2)");
  expect(all()).toBe(all());
  expect(all().all()).toEqual([{ a: 1 }, { a: 2 }]);
  db.exec("ALTER TABLE grown ADD COLUMN b TEXT; UPDATE grown SET b = 'x'");
  expect(all().get()).toEqual({ a: 1, b: "x" });
  expect(all().all()).toEqual([
    { a: 1, b: "x" },
    { a: 2, b: "x" },
  ]);
  for (const row of all().iterate()) if (row.a === 1) break;
  expect(all().all()).toHaveLength(2);
  db.close();
});

test("the number of cached statements is limited", () => {
  const db = openDatabase(":memory:");
  for (let n = 0; n < 2000; n++) expect(db.prepare(`SELECT ${n} AS n`).get()).toEqual({ n });
  expect(db.prepare("SELECT 1999 AS n")).not.toBe(db.prepare("SELECT 1999 AS n"));
  db.close();
});
