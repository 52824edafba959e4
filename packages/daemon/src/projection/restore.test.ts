import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newSessionId, type Principal, type SessionId } from "@holdfast/contract";
import { type Home, openHome } from "@holdfast/platform";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Backups } from "../journal/backups.ts";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { MIGRATIONS } from "../journal/migrations.ts";
import { openJournalDatabase } from "../journal/open.ts";
import { type PendingReport, pendingReport } from "../journal/restore.ts";
import { SessionQueries } from "./session-queries.ts";
import { sessionsProjection } from "./sessions.ts";

const PROJECTIONS = [sessionsProjection];
const USER = "user:tester" as Principal;

interface Rooms extends Disposable {
  home: Home;
  backups: Backups;
  open(migrations?: readonly string[]): Promise<DatabaseSync>;
}

function rooms(): Rooms {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const home = openHome({ HOLDFAST_HOME: join(directory.path, "home") });
  mkdirSync(home.sessions);
  const backups = new Backups({ home });
  return {
    home,
    backups,
    open: (migrations) =>
      openJournalDatabase(home, { backups, projections: PROJECTIONS, canRebuild: () => false, ...(migrations ? { migrations } : {}) }),
    [Symbol.dispose]: () => directory.remove(),
  };
}

function journalOf(db: DatabaseSync): Journal {
  return new Journal({ db, projections: PROJECTIONS, machineName: "box" });
}

function created(session: SessionId, name: string): Draft {
  const data = { name, kind: "shell", agent: "shell", role: null, objective: null, host: "tmux", cwd: "/", command: ["true"] } as const;
  return { type: "session.created", actor: USER, session, data: { ...data, command: [...data.command] } };
}

const STOPPED: Draft = { type: "daemon.stopped", actor: "daemon" as Principal, session: null, data: { pid: 1, why: "asked" } };

/** A home whose daemon shut down cleanly, with a backup after `backedUp` of its sessions. */
async function lived(at: Rooms, counts: { backedUp: number; later: number }): Promise<{ ids: SessionId[]; epoch: string; seq: number }> {
  const db = await at.open();
  const journal = journalOf(db);
  const ids: SessionId[] = [];
  const add = (count: number) => {
    for (let i = 0; i < count; i++) {
      const id = newSessionId();
      ids.push(id);
      journal.append(created(id, `session-${ids.length}`));
      journal.append({ type: "session.renamed", actor: USER, session: id, data: { from: "x", name: `named-${ids.length}` } });
    }
  };
  add(counts.backedUp);
  await at.backups.create("asked");
  add(counts.later);
  journal.append(STOPPED);
  const { epoch, seq } = journal.cursor;
  db.close();
  return { ids, epoch, seq };
}

test("an intact database is opened unchanged", async () => {
  using at = rooms();
  const { epoch, seq } = await lived(at, { backedUp: 3, later: 3 });
  const db = await at.open();
  expect(journalOf(db).cursor).toEqual({ epoch, seq });
  expect(pendingReport(db)).toBeUndefined();
  expect(existsSync(at.home.setAside)).toBe(false);
  db.close();
});

test("events after the backup are recovered from the damaged database, as far as readable", async () => {
  using at = rooms();
  const { ids, seq, epoch } = await lived(at, { backedUp: 200, later: 100 });
  // Damages a page with old events: the tail is intact, and the backup has the old events.
  const file = readFileSync(at.home.database);
  const page = pageOf(file, "session-20");
  file.fill(0xa5, page * 4096, page * 4096 + 200);
  writeFileSync(at.home.database, file);
  const db = await at.open();
  expect(pendingReport(db)).toMatchObject({ recovered: 201, seq, lost: { until: seq }, previousEpoch: epoch });
  expect(new SessionQueries(db).select({ all: true }).map(({ id }) => id)).toEqual(ids);
  expect(journalOf(db).epoch).not.toBe(epoch);
  db.close();
});

/** Returns the page of the events table with this text; its index pages contain no names. */
function pageOf(file: Buffer, text: string): number {
  return Math.floor(file.indexOf(`"name":"${text}"`) / 4096);
}

test("wherever the database or its log is damaged, the next one is sound, has the backup's content, and reports the loss", async () => {
  using at = rooms();
  const { ids, seq, epoch } = await lived(at, { backedUp: 120, later: 60 });
  // A log with more events, as a killed daemon leaves it.
  const db = openDatabase(at.home.database);
  const journal = journalOf(db);
  for (let i = 0; i < 40; i++) journal.append(created(newSessionId(), `in-log-${i}`));
  const original = join(at.home.path, "original");
  mkdirSync(original);
  for (const name of ["holdfast.db", "holdfast.db-wal"]) copyFileSync(join(at.home.path, name), join(original, name));
  db.close();
  const backedUp = at.backups.list()[0]?.seq ?? 0;

  const wound = fc.record({
    file: fc.constantFrom("holdfast.db", "holdfast.db-wal"),
    at: fc.double({ min: 0, max: 0.9999, noNaN: true }),
    bytes: fc.option(fc.uint8Array({ minLength: 1, maxLength: 5000 }), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(wound, { minLength: 1, maxLength: 3 }), async (wounds) => {
      for (const name of readdirSync(at.home.path)) if (name.startsWith("holdfast.db")) rmSync(join(at.home.path, name));
      cpSync(original, at.home.path, { recursive: true });
      for (const { file, at: place, bytes } of wounds) {
        const path = join(at.home.path, file);
        const content = readFileSync(path);
        const offset = Math.floor(place * content.length);
        if (bytes) content.set(bytes.subarray(0, content.length - offset), offset);
        writeFileSync(path, bytes ? content : content.subarray(0, offset));
      }
      const opened = await at.open();
      try {
        expectSound(opened, { ids, seq, epoch, backedUp });
      } finally {
        opened.close();
      }
    }),
    // The last page is truncated, and no copy has it whole: read as zeros, it passed for a valid page.
    { numRuns: 60, examples: [[[cut("holdfast.db", 0.9997507195723684), cut("holdfast.db-wal", 0)]]] },
  );
}, 120_000);

function cut(file: "holdfast.db" | "holdfast.db-wal", at: number): { file: typeof file; at: number; bytes: undefined } {
  return { file, at, bytes: undefined };
}

function expectSound(db: DatabaseSync, was: { ids: SessionId[]; seq: number; epoch: string; backedUp: number }): void {
  expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  const journal = journalOf(db);
  const report: PendingReport | undefined = pendingReport(db);
  const seqs = journal.readAfter(0, 10_000).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  expect(seqs.length).toBeGreaterThanOrEqual(was.backedUp);
  expect(new SessionQueries(db).select({ all: true }).length).toBeGreaterThanOrEqual(120);
  expect(journal.epoch === was.epoch).toBe(report === undefined);
  if (report) expect(report.seq).toBe(seqs.length);
}

/** The schema of the first release; never edited. */
const SCHEMA_1 = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE events (seq INTEGER PRIMARY KEY, epoch TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, v INTEGER NOT NULL,
    at TEXT NOT NULL, actor TEXT NOT NULL, session TEXT, machine TEXT NOT NULL, data TEXT NOT NULL) STRICT;
  CREATE INDEX events_by_session ON events (session, seq) WHERE session IS NOT NULL;
  CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, agent TEXT NOT NULL, role TEXT,
    objective TEXT, host TEXT NOT NULL, cwd TEXT NOT NULL, command TEXT NOT NULL, owner TEXT NOT NULL, created_at TEXT NOT NULL,
    created_seq INTEGER NOT NULL, status TEXT NOT NULL, run INTEGER NOT NULL, restart TEXT NOT NULL, restart_at TEXT,
    memory_limit INTEGER) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_status ON sessions (status);
  CREATE TABLE runs (session TEXT NOT NULL, run INTEGER NOT NULL, pid INTEGER, pid_start TEXT, output_path TEXT, started_at TEXT,
    stop_requested INTEGER NOT NULL DEFAULT 0, limit_exceeded TEXT, ended_at TEXT, exit_code INTEGER, exit_signal TEXT, cause TEXT,
    last_activity_at TEXT, bytes INTEGER, PRIMARY KEY (session, run)) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('epoch', 'abcd1234'), ('machine', 'box-1234');
  INSERT INTO events VALUES
    (1, 'abcd1234', 'e1', 'session.created', 1, '2026-01-01T00:00:00.000Z', 'user:me', 'aaaaaaaaaa', 'box-1234',
     '{"name":"old","kind":"shell","agent":"shell","role":null,"objective":null,"host":"tmux","cwd":"/","command":["make"]}'),
    (2, 'abcd1234', 'e2', 'session.ended', 1, '2026-01-01T00:01:00.000Z', 'daemon', 'aaaaaaaaaa', 'box-1234',
     '{"run":1,"exit":{"code":2,"signal":null},"cause":"exited","endedAt":"2026-01-01T00:01:00.000Z","lastActivityAt":null,"bytes":7}'),
    (3, 'abcd1234', 'e3', 'daemon.stopped', 1, '2026-01-01T00:02:00.000Z', 'daemon', NULL, 'box-1234', '{"pid":1,"why":"asked"}');
  INSERT INTO sessions VALUES ('aaaaaaaaaa', 'old', 'shell', 'shell', NULL, NULL, 'tmux', '/', '["make"]', 'user:me',
    '2026-01-01T00:00:00.000Z', 1, 'failed', 1, 'never', NULL, NULL);
  INSERT INTO runs VALUES ('aaaaaaaaaa', 1, NULL, NULL, NULL, NULL, 0, NULL, '2026-01-01T00:01:00.000Z', 2, NULL, 'exited', NULL, 7);
  PRAGMA user_version = 1;
`;

function writeSchema1(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; BEGIN; ${SCHEMA_1} COMMIT`);
  db.close();
}

test("a database of the first schema is migrated to the current one, with every session and event", async () => {
  using at = rooms();
  writeSchema1(at.home.database);
  const db = await at.open();
  expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: MIGRATIONS.length });
  const schema = (of: DatabaseSync) => of.prepare("SELECT name FROM sqlite_schema ORDER BY name").all();
  expect(schema(db)).toEqual(schema(openDatabase(":memory:")));
  const journal = journalOf(db);
  expect(journal.cursor).toEqual({ epoch: "abcd1234", seq: 3 });
  const sessions = () => new SessionQueries(db).select({ all: true });
  expect(sessions()).toMatchObject([{ id: "aaaaaaaaaa", name: "old", status: "failed", exit: { code: 2, signal: null } }]);
  const before = sessions();
  journal.rebuild();
  expect(sessions()).toEqual(before);
  db.close();
});

test("a migration first takes a backup of the old schema", async () => {
  using at = rooms();
  writeSchema1(at.home.database);
  const steps = [...MIGRATIONS, "CREATE TABLE later (a TEXT)"];
  const db = await at.open(steps);
  expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: steps.length });
  db.close();
  const [backup] = at.backups.list();
  expect(backup).toMatchObject({ why: "migration", seq: 3 });
  using copy = new DatabaseSync(join(at.home.backups, `${backup?.name}.db`), { readOnly: true });
  expect(copy.prepare("PRAGMA user_version").get()).toEqual({ user_version: 1 });
});

test("a failed migration leaves the database unchanged, and its backup", async () => {
  using at = rooms();
  writeSchema1(at.home.database);
  await expect(at.open([...MIGRATIONS, "CREATE TABLE later (a TEXT); INSERT INTO nowhere VALUES (1)"])).rejects.toThrow("nowhere");
  using db = new DatabaseSync(at.home.database, { readOnly: true });
  expect(db.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'later'").get()).toEqual({ n: 0 });
  expect(at.backups.list()).toHaveLength(1);
});

test("a backup of an older schema is migrated when restored; one of a newer schema is skipped", async () => {
  using at = rooms();
  writeSchema1(at.home.database);
  const old = await at.backups.create("asked");
  const db = new DatabaseSync(at.home.database);
  db.exec("PRAGMA user_version = 4711");
  db.close();
  const newer = await at.backups.create("asked");
  expect([await at.backups.isUsable(old), await at.backups.isUsable(newer)]).toEqual([true, false]);
  writeFileSync(at.home.database, "no database");
  const restored = await at.open();
  expect(pendingReport(restored)).toMatchObject({ backup: { name: old.name }, seq: 3, previousEpoch: "abcd1234" });
  expect(restored.prepare("PRAGMA user_version").get()).toEqual({ user_version: MIGRATIONS.length });
  restored.close();
});

/** Simulates an unreleased build with different migrations. */
function lackAColumn(file: string): void {
  using db = new DatabaseSync(file);
  db.exec("ALTER TABLE runs DROP COLUMN limit_exceeded; UPDATE meta SET value = 'others' WHERE key = 'schema'");
}

test("a database that lacks part of its schema is set aside and replaced by the backup, with all events", async () => {
  using at = rooms();
  const was = await lived(at, { backedUp: 3, later: 2 });
  lackAColumn(at.home.database);
  const db = await at.open();
  expect(pendingReport(db)).toMatchObject({
    why: "damaged",
    what: `its schema version is ${MIGRATIONS.length}, but it has no column limit_exceeded in its table runs`,
    seq: was.seq,
    recovered: 5,
    setAside: expect.stringContaining(at.home.setAside),
  });
  const there = new SessionQueries(db).select({ all: true }).map(({ id }) => id);
  expect(there.toSorted()).toEqual(was.ids.toSorted());
  db.close();
});

test("without a better backup, the events are read again from the first", async () => {
  using at = rooms();
  const was = await lived(at, { backedUp: 3, later: 2 });
  lackAColumn(at.home.database);
  for (const { name } of at.backups.list()) lackAColumn(join(at.home.backups, `${name}.db`));
  const db = await at.open();
  expect(pendingReport(db)).toMatchObject({ why: "damaged", backup: null, salvaged: false, seq: was.seq, recovered: was.seq });
  expect(new SessionQueries(db).select({ all: true })).toHaveLength(5);
  db.close();
  const again = await at.open();
  expect(pendingReport(again)?.recovered, "it is not restored a second time").toBe(was.seq);
  again.close();
});

test("an impossible schema version is damage, not a newer Holdfast", async () => {
  using at = rooms();
  await lived(at, { backedUp: 5, later: 0 });
  const file = readFileSync(at.home.database);
  file.fill(0xa5, 60, 64);
  writeFileSync(at.home.database, file);
  const db = await at.open();
  expect(pendingReport(db)).toMatchObject({ why: "damaged", backup: { name: expect.any(String) } });
  db.close();
});
