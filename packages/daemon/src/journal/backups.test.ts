import { copyFileSync, mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newSessionId, type Principal, type SessionId } from "@holdfast/contract";
import { type Home, openHome } from "@holdfast/platform";
import { afterEach, expect, test, vi } from "vitest";
import { Backups } from "./backups.ts";
import { openDatabase } from "./database.ts";
import { type Draft, Journal } from "./journal.ts";

const SESSION = newSessionId();

function renamed(session: SessionId = SESSION): Draft {
  return { type: "session.renamed", actor: "user:tester" as Principal, session, data: { from: "f", name: "n" } };
}

function open(): { home: Home; journal: Journal; backups: Backups; db: DatabaseSync; damage: string[] } & Disposable {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const home = openHome({ HOLDFAST_HOME: join(directory.path, "home") });
  const damage: string[] = [];
  const backups = new Backups({ home, onDamage: (what) => damage.push(what) });
  const db = openDatabase(home.database);
  const journal = new Journal({ db, projections: [], machineName: "box" });
  return {
    home,
    journal,
    backups,
    db,
    damage,
    [Symbol.dispose]() {
      backups[Symbol.dispose]();
      db.close();
      directory.remove();
    },
  };
}

afterEach(() => {
  vi.useRealTimers();
});

/** The copy runs in its own thread, on a machine that may be busy. */
const SOON = { timeout: 15_000 };

test("a backup is one complete file with every event up to its seq, while more are appended", async () => {
  using rooms = open();
  for (let i = 0; i < 2000; i++) rooms.journal.append(renamed());
  let done = false;
  const taken = rooms.backups.create("asked").finally(() => {
    done = true;
  });
  while (!done) {
    rooms.journal.append(renamed());
    await new Promise(setImmediate);
  }
  const backup = await taken;
  expect(rooms.journal.cursor.seq).toBeGreaterThan(backup.seq);
  expect(backup.seq).toBeGreaterThanOrEqual(2000);
  expect(readdirSync(rooms.home.backups)).toEqual([`${backup.name}.db`]);
  using copy = new DatabaseSync(rooms.backups.pathOf(backup), { readOnly: true });
  expect(copy.prepare("SELECT count(*) AS n, max(seq) AS seq FROM events").get()).toEqual({ n: backup.seq, seq: backup.seq });
  expect(copy.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "delete" });
  expect(await rooms.backups.isUsable(backup)).toBe(true);
});

test("two concurrent backups are taken in turn, and sort in that order even if the clock jumps back", async () => {
  using rooms = open();
  rooms.journal.append(renamed());
  const [first, second] = await Promise.all([rooms.backups.create("asked"), rooms.backups.create("asked")]);
  vi.setSystemTime(Date.now() - 86_400_000);
  const third = await rooms.backups.create("restore");
  expect(rooms.backups.list().map(({ name }) => name)).toEqual([third.name, second.name, first.name]);
});

test("a damaged database yields no backup and is reported", async () => {
  using rooms = open();
  for (let i = 0; i < 2000; i++) rooms.journal.append(renamed());
  rooms.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const file = readFileSync(rooms.home.database);
  file.fill(0xa5, file.length - 40_000, file.length - 20_000);
  writeFileSync(rooms.home.database, file);
  await expect(rooms.backups.create("asked")).rejects.toMatchObject({ code: "journal_damaged" });
  expect(rooms.damage).toHaveLength(1);
  expect(readdirSync(rooms.home.backups)).toEqual([]);
});

test("a backup taken before any append leaves the log of a killed daemon unchanged", async () => {
  using killed = open();
  killed.journal.append(renamed());
  using next = open();
  next.db.close();
  const files = ["", "-wal"].map((suffix) => [killed.home.database + suffix, next.home.database + suffix] as const);
  for (const [from, to] of files) copyFileSync(from, to);
  const backup = await next.backups.create("migration");
  expect(backup.seq).toBe(1);
  for (const [from, to] of files) expect(readFileSync(to).equals(readFileSync(from))).toBe(true);
  next.db.open();
});

test("a backup damaged later is not usable", async () => {
  using rooms = open();
  for (let i = 0; i < 500; i++) rooms.journal.append(renamed());
  const backup = await rooms.backups.create("asked");
  const file = readFileSync(rooms.backups.pathOf(backup));
  writeFileSync(rooms.backups.pathOf(backup), file.subarray(0, file.length - 5000));
  expect(await rooms.backups.isUsable(backup)).toBe(false);
});

test("temporary files of a killed daemon are removed, and foreign files stay", () => {
  using rooms = open();
  mkdirSync(rooms.home.backups);
  writeFileSync(join(rooms.home.backups, "123.tmp"), "half");
  writeFileSync(join(rooms.home.backups, "notes.txt"), "mine");
  new Backups({ home: rooms.home });
  expect(readdirSync(rooms.home.backups)).toEqual(["notes.txt"]);
});

test("a backup is taken every ten minutes if something was appended since the last", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  using rooms = open();
  const count = () => rooms.backups.list().length;
  rooms.journal.append(renamed());
  rooms.backups.begin(() => rooms.journal.cursor.seq);
  expect(count()).toBe(0);
  await vi.advanceTimersByTimeAsync(30_000);
  await vi.waitUntil(() => count() === 1 && vi.getTimerCount() > 0, SOON);
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  await vi.waitUntil(() => vi.getTimerCount() > 0, SOON);
  expect(count(), "nothing was appended").toBe(1);
  rooms.journal.append(renamed());
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  await vi.waitUntil(() => count() === 2, SOON);
  expect(rooms.backups.list()[0]).toMatchObject({ why: "timer", seq: 2 });
});
