import { copyFileSync, mkdtempDisposableSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { walDamage } from "./wal.ts";

const FRAME = 24 + 4096;

/** A log left by a killed writer: `count` transactions of one row each, none of them in the database file. */
function killedWriter(count: number): { path: string; wal: string; rows(): number } & Disposable {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const live = join(directory.path, "live.db");
  const path = join(directory.path, "t.db");
  const db = new DatabaseSync(live);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (a INTEGER)");
  for (let i = 0; i < count; i++) db.exec(`INSERT INTO t VALUES (${i})`);
  copyFileSync(live, path);
  copyFileSync(`${live}-wal`, `${path}-wal`);
  db.close();
  return {
    path,
    wal: `${path}-wal`,
    rows() {
      using reader = new DatabaseSync(path, { readOnly: true });
      return Number(reader.prepare("SELECT count(*) AS n FROM t").get()?.n);
    },
    [Symbol.dispose]: () => directory.remove(),
  };
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const content = readFileSync(path);
  bytes.copy(content, at);
  writeFileSync(path, content);
}

test("a killed writer's log is intact, and so are a missing and an empty log", () => {
  using writer = killedWriter(50);
  expect(statSync(writer.wal).size).toBeGreaterThan(50 * FRAME);
  expect(walDamage(writer.wal)).toBeUndefined();
  expect(walDamage(`${writer.wal}-none`)).toBeUndefined();
  truncateSync(writer.wal, 0);
  expect(walDamage(writer.wal)).toBeUndefined();
});

test("a log restarted over older frames is intact", () => {
  using writer = killedWriter(0);
  const db = new DatabaseSync(writer.path);
  for (let i = 0; i < 30; i++) db.exec(`INSERT INTO t VALUES (${i})`);
  db.exec("PRAGMA wal_checkpoint(RESTART)");
  for (let i = 0; i < 3; i++) db.exec(`INSERT INTO t VALUES (${i})`);
  expect(statSync(writer.wal).size).toBeGreaterThan(20 * FRAME);
  expect(walDamage(writer.wal)).toBeUndefined();
  db.close();
});

test("an unfinished transaction is not damage", () => {
  using writer = killedWriter(20);
  truncateSync(writer.wal, statSync(writer.wal).size - 1000);
  expect(walDamage(writer.wal)).toBeUndefined();
});

test("a last frame without its page, over an older frame, is not damage; commits after it are", () => {
  using writer = killedWriter(0);
  const db = new DatabaseSync(writer.path);
  for (let i = 0; i < 30; i++) db.exec(`INSERT INTO t VALUES (${i})`);
  db.exec("PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (1)");
  const before = readFileSync(writer.wal);
  db.exec("INSERT INTO t VALUES (2)");
  const after = readFileSync(writer.wal);
  db.exec("INSERT INTO t VALUES (3)");
  const further = readFileSync(writer.wal);
  db.close();
  const page = 32 + Math.floor((before.findIndex((byte, i) => byte !== after[i]) - 32) / FRAME) * FRAME + 24;
  const torn = (whole: Buffer) => Buffer.concat([whole.subarray(0, page), before.subarray(page, page + 4096), whole.subarray(page + 4096)]);
  writeFileSync(writer.wal, torn(after));
  expect(walDamage(writer.wal)).toBeUndefined();
  writeFileSync(writer.wal, torn(further));
  expect(walDamage(writer.wal)).toContain("1 transaction cannot be read");
});

test.each([
  ["a page", 32 + 10 * FRAME + 24 + 100],
  ["a checksum", 32 + 10 * FRAME + 16],
  ["a salt", 32 + 10 * FRAME + 8],
])("damage to %s in the middle is reported with the transactions that SQLite no longer reads", (_, at) => {
  using writer = killedWriter(40);
  overwrite(writer.wal, at, Buffer.from([0xa5, 0x5a, 0xa5]));
  const told = walDamage(writer.wal) ?? "";
  const lost = Number(/(\d+) transactions/.exec(told)?.[1]);
  expect(writer.rows()).toBeLessThan(40);
  // A damaged salt hides its own transaction.
  expect(40 - writer.rows() - lost).toBeLessThanOrEqual(1);
  expect(lost).toBeGreaterThan(10);
});

test("damage to the last transaction is reported", () => {
  using writer = killedWriter(40);
  overwrite(writer.wal, statSync(writer.wal).size - 2000, Buffer.from([0xa5, 0x5a]));
  expect(walDamage(writer.wal)).toContain("1 transaction cannot be read");
  expect(writer.rows()).toBe(39);
});

test("a damaged header hides the whole log and is reported", () => {
  using writer = killedWriter(40);
  overwrite(writer.wal, 17, Buffer.from([0xa5, 0x5a]));
  expect(walDamage(writer.wal)).toContain("header");
});
