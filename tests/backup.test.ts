/** Backups and restores, as people and scripts use them; and damage anywhere in the database, at any time. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AnyEvent, Backup, DaemonStatus, Session } from "@holdfast/contract";
import { MIGRATIONS } from "@holdfast/daemon/journal/migrations";
import { expect, test } from "vitest";
import { noise, overwrite, randomFrom, SEED } from "./damaged.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { lives } from "./proc.ts";
import { Terminal } from "./terminal.ts";

const FOREVER = ["--", "sleep", "1000"];

function status(home: TestHome): Promise<DaemonStatus> {
  return home.json<DaemonStatus>(["status"]);
}

async function names(home: TestHome): Promise<string[]> {
  return (await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name).sort();
}

async function events(home: TestHome): Promise<AnyEvent[]> {
  const text = await home.ok(["events"]);
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AnyEvent);
}

/** Creates many events, so that the database has many pages. */
async function rename(home: TestHome, ref: string, times: number): Promise<void> {
  using client = home.client();
  const { id, name } = await client.call("getSession", { params: { ref } });
  for (let i = 0; i < times; i++)
    await client.call("renameSession", { params: { ref: id }, body: { name: `${name}-${i}-${"x".repeat(40)}` } });
  await client.call("renameSession", { params: { ref: id }, body: { name } });
}

test("a home that lost both its database and its sessions does not start as if it were new", async () => {
  await using home = new TestHome();
  await home.ok(["run", "--name", "kept", "--", "sleep", "1000"]);
  await home.ok(["down"]);
  for (const name of readdirSync(home.path)) {
    if (name === "sessions" || name.startsWith("holdfast.db")) rmSync(path.join(home.path, name), { recursive: true, force: true });
  }
  const { stderr } = await home.cli(["ls"]);
  expect(stderr).toContain("The journal's database was");
  expect(JSON.parse(await home.ok(["events", "--type", "journal.restored"]))).toMatchObject({ type: "journal.restored" });
  expect(await home.ok(["orphans"])).not.toContain("no orphans");
});

test(`a database damaged at random places or cut at random lengths comes back with every session [seed ${SEED}]`, async () => {
  await using home = new TestHome();
  const random = randomFrom(SEED);
  const database = path.join(home.path, "holdfast.db");
  const kept = await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  await home.run("exit 3", "--name", "ended");
  await home.ended("ended");
  await rename(home, "kept", 300);
  await home.ok(["backup", "create"]);
  const later = await home.json<Session>(["run", "--name", "later", ...FOREVER]);
  await rename(home, "later", 100);

  for (let round = 0; round < 8; round++) {
    const before = await status(home);
    await home.ok(["down"]);
    const { size } = statSync(database);
    const at = Math.floor(random() * size);
    const length = 1 + Math.floor(random() * 8000);
    const cut = random() < 0.3;
    if (cut) truncateSync(database, at);
    else overwrite(database, at, noise(length, random));
    const what = `seed ${SEED}, round ${round}: ${cut ? `cut at ${at}` : `${length} bytes at ${at}`} of ${size}`;

    expect(await names(home), what).toEqual(["ended", "kept", "later"]);
    expect(await home.session("kept"), what).toMatchObject({ pid: kept.pid, status: "working" });
    expect(await home.session("later"), what).toMatchObject({ pid: later.pid, status: "working" });
    expect((await home.session("ended")).exit, what).toEqual({ code: 3, signal: null });
    const all = await events(home);
    expect(
      all.map(({ seq }) => seq),
      what,
    ).toEqual(all.map((_, i) => i + 1));
    // Either the damage hit nothing important, or a new epoch reports it.
    const now = await status(home);
    const told = all.filter(({ type, epoch }) => type === "journal.restored" && epoch === now.epoch).length;
    if (now.epoch !== before.epoch) expect(told, what).toBe(1);
    else expect(now.restored, what).toEqual(before.restored);
    if (cut) expect(now.epoch, what).not.toBe(before.epoch);
  }
});

test("a daemon killed repeatedly during a restore ends with the same journal", async () => {
  await using home = new TestHome();
  const random = randomFrom(SEED);
  const kept = await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  await home.ok(["backup", "create"]);
  const later = await home.json<Session>(["run", "--name", "later", ...FOREVER]);
  await home.ok(["down"]);
  writeFileSync(path.join(home.path, "holdfast.db"), noise(20_000));
  for (let round = 0; round < 6; round++) {
    const start = home.start(["up"]);
    await new Promise((resolve) => setTimeout(resolve, 60 + random() * 200));
    for (const { pid } of home.processes()) if (isDaemon(pid)) kill(pid);
    start.kill("SIGKILL");
  }
  expect(await names(home)).toEqual(["kept", "later"]);
  for (const { name, pid } of [kept, later]) expect(await home.session(name)).toMatchObject({ status: "working", pid });
  const all = await events(home);
  expect(all.filter(({ type }) => type === "journal.restored").length, `seed ${SEED}`).toBe(1);
  expect(all.filter(({ type }) => type === "session.rebuilt").length, `seed ${SEED}`).toBe(1);
  expect(readdirSync(home.path).filter((name) => /restore|\.new/.test(name))).toEqual([]);
});

function isDaemon(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("daemon.mjs");
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The daemon has exited.
  }
}

test("owner, conversation and name from after the backup are recovered from disk", async () => {
  await using home = new TestHome();
  await home.ok(["token", "create", "--scope", "driver", "--name", "ada"]);
  await home.ok(["run", "--name", "sh", ...FOREVER]);
  await home.ok(["spawn", "demo", "--name", "api", "--", "--fast"]);
  const { conversation: first } = await home.until("api", ({ status, conversation }) => status === "idle" && conversation !== null);
  await home.ok(["backup", "create"]);
  await home.ok(["handover", "sh", "--to", "token:ada", "--note", "yours"]);
  await home.ok(["rename", "sh", "hers"]);
  await home.ok(["stop", "api"]);
  await home.ok(["resume", "api", "--fresh"]);
  const { conversation, pid } = await home.until("api", (session) => session.status === "idle" && session.conversation !== first);
  await home.ok(["down"]);
  overwrite(path.join(home.path, "holdfast.db"), 0, noise(4096));
  expect((await home.cli(["ls"])).stderr).toContain("was damaged");
  expect(await home.session("hers")).toMatchObject({ owner: "token:ada", handover: { to: "token:ada", note: "yours" } });
  const api = await home.session("api");
  expect(api).toMatchObject({ pid, runs: 2, conversation });
  expect(api.conversations.map(({ id }) => id)).toEqual([first, conversation]);
});

test("without any backup, sessions are rebuilt from their directories with a prominent notice", async () => {
  await using home = new TestHome();
  const kept = await home.json<Session>(["run", "--name", "kept", "--restart", "always", ...FOREVER]);
  await home.run("echo words; exit 4", "--name", "ended");
  await home.ended("ended");
  await home.ok(["rename", "kept", "renamed"]);
  await home.ok(["token", "create", "--scope", "driver", "--name", "ada"]);
  await home.ok(["handover", "renamed", "--to", "token:ada", "--note", "yours"]);
  await home.ok(["down"]);
  for (const name of ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm", "backups"]) {
    rmSync(path.join(home.path, name), { recursive: true, force: true });
  }
  const said = await home.cli(["ls"]);
  expect(said.stderr).toContain("was missing");
  expect(said.stderr).toContain("no backup");
  expect(await names(home)).toEqual(["ended", "renamed"]);
  expect(await home.session("renamed")).toMatchObject({
    pid: kept.pid,
    restart: "always",
    owner: "token:ada",
    handover: { from: kept.owner, note: "yours" },
  });
  expect(await home.session("ended")).toMatchObject({ status: "failed", exit: { code: 4, signal: null } });
  expect(await home.ok(["logs", "ended"])).toBe("words\n");
});

test("a session removed after the backup stays removed, and its name is free", async () => {
  await using home = new TestHome();
  await home.run("exit 0", "--name", "gone");
  await home.ended("gone");
  await home.ok(["backup", "create"]);
  await home.ok(["rm", "gone"]);
  await home.ok(["down"]);
  writeFileSync(path.join(home.path, "holdfast.db"), noise(20_000));
  expect(await names(home)).toEqual([]);
  expect((await status(home)).restored?.sessions.removed).toEqual([{ id: expect.any(String), name: "gone" }]);
  expect((await events(home)).filter(({ type }) => type === "session.removed")).toHaveLength(1);
  await home.run("exit 0", "--name", "gone");
});

test("runs from after the backup are recovered, each with its end", async () => {
  await using home = new TestHome();
  const session = await home.run("[ -e go ] || exec sleep 1000; exit 7", "--name", "again", "--restart", "on-failure");
  await home.ok(["backup", "create"]);
  writeFileSync(path.join(home.root, "go"), "");
  process.kill(session.pid ?? 0, "SIGKILL");
  await home.until("again", ({ runs }) => runs >= 3);
  await home.ok(["stop", "again"]).catch(() => {});
  await home.until("again", ({ endedAt, restartAt }) => endedAt !== null && restartAt === null);
  const { runs } = await home.session("again");
  await home.ok(["down"]);
  writeFileSync(path.join(home.path, "holdfast.db"), noise(20_000));
  await home.ok(["stop", "again"]).catch(() => {});
  expect((await home.session("again")).runs).toBeGreaterThanOrEqual(runs);
  const ends = (await events(home)).filter(({ type }) => type === "session.ended").map(({ data }) => data);
  expect(ends[0]).toMatchObject({ run: 1, exit: { signal: "SIGKILL" } });
  expect(ends[1]).toMatchObject({ run: 2, exit: { code: 7 } });
});

test("a restore starts no run for a session that was stopped, or whose end is only found then", async () => {
  await using home = new TestHome();
  const run = (name: string, ...command: string[]) => home.json<Session>(["run", "--name", name, "--restart", "always", "--", ...command]);
  await run("stopped", "sleep", "1000");
  const ended = await run("ended", "sleep", "1000");
  const kept = await run("kept", "sleep", "1000");
  await run("due", "false");
  await home.until("due", ({ runs, restartAt }) => runs === 3 && restartAt !== null);
  await home.ok(["backup", "create"]);
  await home.ok(["stop", "due"]);
  await home.ok(["stop", "stopped"]);
  await run("rebuilt", "sleep", "1000");
  await home.ok(["stop", "rebuilt"]);
  const due = await home.session("due");
  await home.ok(["down"]);
  process.kill(ended.pid ?? 0, "SIGKILL");
  await eventually(() => !lives(ended.pid ?? 0));
  writeFileSync(path.join(home.path, "holdfast.db"), noise(20_000));

  for (const name of ["stopped", "rebuilt"]) {
    expect(await home.session(name)).toMatchObject({ status: "stopped", cause: "stopped", restartAt: null, runs: 1 });
  }
  expect(await home.session("ended")).toMatchObject({ status: "failed", cause: "exited", restartAt: null, runs: 1 });
  expect(await home.session("due")).toMatchObject({ restartAt: null, runs: due.runs });
  const abandoned = (await events(home)).filter(({ type, data }) => type === "session.restart_abandoned" && data.why === "restored");
  expect(abandoned.map(({ session }) => session)).toEqual(expect.arrayContaining([due.id, ended.id]));
  // A run that survived is restarted as usual.
  process.kill(kept.pid ?? 0, "SIGKILL");
  await home.until("kept", ({ runs, status }) => runs === 2 && status === "working");
});

test("damage found while the daemon runs is reported, and the next daemon restores the database", async () => {
  await using home = new TestHome();
  const kept = await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  await rename(home, "kept", 200);
  await home.ok(["backup", "create"]);
  const before = await status(home);
  const database = path.join(home.path, "holdfast.db");
  // Moves all data from the log into the database itself.
  using db = new DatabaseSync(database);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  const { size } = statSync(database);
  const file = readFileSync(database);
  file.fill(0xa5, 5 * 4096, size);
  // Finds the damage before the daemon's own check, which runs every five seconds.
  using client = home.client();
  await client.call("status", {});
  overwrite(database, 0, file);
  await expect(client.call("createBackup", { body: {} })).rejects.toMatchObject({
    code: "journal_damaged",
    message: expect.stringContaining("the journal's database is damaged"),
  });
  await eventually(() => !lives(before.pid));
  expect(await names(home)).toEqual(["kept"]);
  expect(await home.session("kept")).toMatchObject({ pid: kept.pid, status: "working" });
  const now = await status(home);
  expect(now.epoch).not.toBe(before.epoch);
  expect(now.restored).toMatchObject({ why: "damaged" });
  expect(existsSync(path.join(home.path, "restore.json"))).toBe(false);
});

test("a large journal is not read in full at each start; the query that meets the damage finds it", async () => {
  await using home = new TestHome();
  const kept = await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  await home.ok(["down"]);
  const database = path.join(home.path, "holdfast.db");
  const db = new DatabaseSync(database);
  db.exec(`
    CREATE TEMP TABLE last AS SELECT * FROM events ORDER BY seq DESC LIMIT 1;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
    INSERT INTO events SELECT seq + i, epoch, 'filler', type, v, at, actor, session, machine,
      json_object('pid', 1, 'why', 'asked', 'filler', printf('%.*c', 8000, 'x')) FROM last, n;
  `);
  db.close();
  const { size } = statSync(database);
  expect(size).toBeGreaterThan(64 << 20);
  await home.ok(["backup", "create"]);
  await home.ok(["down"]);
  const file = readFileSync(database);
  // A leaf page of the table: overwrites its header, not the text of its rows.
  const page = Math.floor(file.indexOf("filler", Math.floor(size / 2)) / 4096);
  file.fill(0xa5, page * 4096, page * 4096 + 64);
  writeFileSync(database, file);

  const before = await status(home);
  expect(before.restored).toBeNull();
  const met = await home.cli(["events", "--after", "4000"]);
  expect([met.code, met.stderr]).toEqual([18, expect.stringContaining("try again in a moment")]);
  await eventually(() => !lives(before.pid));
  expect(await names(home)).toEqual(["kept"]);
  expect(await home.session("kept")).toMatchObject({ pid: kept.pid, status: "working" });
  const now = await status(home);
  expect(now.restored).toMatchObject({ why: "damaged", backup: { name: expect.any(String) }, lost: { until: now.restored?.seq } });
  // Page by page, across the end of the old epoch.
  expect(await home.ok(["events", "--after", "8000", "--type", "journal.restored"])).toContain(now.epoch);
});

test("damage that only the backup before a migration finds is restored, and the daemon starts", async () => {
  await using home = new TestHome();
  mkdirSync(home.path, { recursive: true });
  const db = new DatabaseSync(path.join(home.path, "holdfast.db"));
  const version = MIGRATIONS.length - 1;
  for (const migration of MIGRATIONS.slice(0, version)) db.exec(migration);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA user_version = ${version}`);
  const insert = db.prepare("INSERT INTO events VALUES (?, 'e1', ?, ?, 1, '2026-11-15T00:00:00.000Z', 'daemon', NULL, 'box', ?)");
  for (const seq of [1, 2, 3]) {
    insert.run(seq, `id-${seq}`, seq === 3 ? "daemon.stopped" : "daemon.started", '{"pid":1,"why":"asked","version":"0.1.0","node":"n"}');
  }
  db.exec("UPDATE events SET machine = CAST(x'ff41' AS TEXT) WHERE seq = 2");
  db.close();
  const said = await home.cli(["ls"]);
  expect([said.code, said.stderr]).toEqual([0, expect.stringContaining("a row of events cannot be read")]);
  expect((await status(home)).restored).toMatchObject({ why: "damaged" });
});

test("a database opened with sqlite3 after a daemon kill loses its log without being damaged", async () => {
  await using home = new TestHome();
  const kept = await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  const { epoch } = await status(home);
  await home.killDaemon();
  const database = path.join(home.path, "holdfast.db");
  const person = new DatabaseSync(database);
  person.prepare("SELECT count(*) FROM sessions").get();
  person.close();
  expect(existsSync(`${database}-wal`)).toBe(false);
  expect(await status(home)).toMatchObject({ epoch, restored: null });
  expect(await home.session("kept")).toMatchObject({ pid: kept.pid, status: "working" });
  expect(existsSync(path.join(home.path, "damaged"))).toBe(false);
});

test("each command shows the restore notice until a person has seen it on a terminal; scripts never get it", async () => {
  await using home = new TestHome();
  await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  await home.ok(["down"]);
  rmSync(path.join(home.path, "holdfast.db"));
  for (let i = 0; i < 2; i++)
    expect((await home.cli(["ls"])).stderr).toContain(
      "Rebuilt from their files: kept; whether they had been stopped or viewed may be lost.",
    );
  expect((await home.cli(["ls", "--json"])).stderr).toBe("");
  using terminal = new Terminal({ env: home.env });
  await terminal.command(`${HOLDFAST} ls`);
  await terminal.shows("Rebuilt from their files: kept");
  await eventually(() => !existsSync(path.join(home.path, "notice")));
  expect((await home.cli(["ls"])).stderr).toBe("");
  expect(await home.ok(["status"])).toMatch(/^restored .*it is missing/m);
});

test("restore takes a backup, then goes back to an older one; later sessions are rebuilt, and old cursors get an error", async () => {
  await using home = new TestHome();
  const kept = await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  const backup = await home.json<Backup>(["backup", "create"]);
  const later = await home.json<Session>(["run", "--name", "later", ...FOREVER]);
  await home.ok(["rename", "kept", "other"]);
  const old = await status(home);
  const refused = await home.cli(["backup", "restore", backup.name]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  expect((await home.cli(["backup", "restore", "nonsense", "--yes"])).code).toBe(3);

  const waiting = home.cli(["wait", "later", "--timeout", "60s"]);
  const report = await home.json<Record<string, unknown>>(["backup", "restore", backup.name, "--yes"]);
  expect(report).toMatchObject({
    why: "asked",
    backup: { name: backup.name },
    before: expect.stringMatching(/-restore$/),
    seq: backup.seq,
  });
  expect(await names(home)).toEqual(["kept", "later"]);
  for (const { name, pid } of [kept, later]) expect(await home.session(name)).toMatchObject({ status: "working", pid });
  const now = await status(home);
  expect(now.epoch).not.toBe(old.epoch);
  expect((await home.cli(["events", "--after", `${old.epoch}:${old.seq}`])).code).toBe(13);
  await home.ok(["stop", "later"]);
  expect((await waiting).stdout).toContain("later has ended");

  // Restores the backup from before.
  await home.ok(["backup", "restore", String(report.before), "--yes"]);
  expect(await names(home)).toEqual(["later", "other"]);
});

test("the oldest of many backups can be restored: the backup taken first does not push it out", async () => {
  await using home = new TestHome();
  await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  const oldest = await home.json<Backup>(["backup", "create"]);
  for (let i = 0; i < 2; i++) await home.ok(["backup", "create"]);
  await home.ok(["rename", "kept", "other"]);
  const report = await home.json<Record<string, unknown>>(["backup", "restore", oldest.name, "--yes"]);
  expect(report).toMatchObject({ why: "asked", backup: { name: oldest.name }, seq: oldest.seq });
  expect(await names(home)).toEqual(["kept"]);
});

test("an order to restore a missing or damaged backup is refused, and the journal stays unchanged", async () => {
  await using home = new TestHome();
  await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  const backup = await home.json<Backup>(["backup", "create"]);
  const { epoch } = await status(home);
  const order = path.join(home.path, "restore.json");
  const at = "2026-11-15T00:00:00.000Z";
  const aside = path.join(home.path, "damaged", at.replace(/[-:.]/g, ""));
  for (const name of ["20261115T000000000Z-1-asked", backup.name]) {
    for (const cutShort of [false, true]) {
      await home.ok(["down"]);
      writeFileSync(path.join(home.path, "backups", `${backup.name}.db`), noise(20_000));
      writeFileSync(order, JSON.stringify({ id: `${name}-${cutShort}`, at, why: "asked", what: "w", backup: name }));
      // A daemon that died midway had already set the database aside.
      mkdirSync(aside, { recursive: true });
      if (cutShort) renameSync(path.join(home.path, "holdfast.db"), path.join(aside, "holdfast.db"));
      expect((await home.cli(["ls"])).stderr).toContain(`The backup ${name} could not be restored`);
      expect(await status(home)).toMatchObject({ epoch, restored: null });
      expect(existsSync(order)).toBe(false);
      expect(await names(home)).toEqual(["kept"]);
    }
  }
});

test("restore asks for confirmation on a terminal and accepts no", async () => {
  await using home = new TestHome();
  await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  const backup = await home.json<Backup>(["backup", "create"]);
  const { epoch } = await status(home);
  using terminal = new Terminal({ env: home.env });
  await terminal.command(`${HOLDFAST} backup restore ${backup.name}`);
  await terminal.shows("[y/N]");
  terminal.line("n");
  await terminal.shows("nothing was changed");
  expect((await status(home)).epoch).toBe(epoch);
  await terminal.command(`clear; ${HOLDFAST} backup restore ${backup.name}`);
  await terminal.shows("[y/N]");
  terminal.line("y");
  await terminal.shows("Restored");
  expect((await status(home)).epoch).not.toBe(epoch);
});

test("a database of a newer Holdfast is refused with a clear line and left unchanged", async () => {
  await using home = new TestHome();
  await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  await home.ok(["down"]);
  const database = path.join(home.path, "holdfast.db");
  const known = new DatabaseSync(database);
  const { user_version: version } = known.prepare("PRAGMA user_version").get() as { user_version: number };
  known.exec("PRAGMA user_version = 4711");
  known.close();
  const before = readFileSync(database);
  const { code, stderr } = await home.cli(["ls"]);
  expect(code).toBe(11);
  expect(stderr).toContain("the database is from a newer Holdfast (schema 4711");
  expect(stderr).toContain("nothing was changed");
  expect(readFileSync(database).equals(before)).toBe(true);
  expect(existsSync(path.join(home.path, "damaged"))).toBe(false);
  const again = new DatabaseSync(database);
  again.exec(`PRAGMA user_version = ${version}`);
  again.close();
  expect(await names(home)).toEqual(["kept"]);
});

test("a disk error during a restore never results in an empty journal", async () => {
  await using home = new TestHome();
  await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
  await home.ok(["backup", "create"]);
  await home.ok(["down"]);
  writeFileSync(path.join(home.path, "holdfast.db"), noise(20_000));
  // An obstacle at the place of the copy that cannot be replaced.
  const blocked = path.join(home.path, "holdfast.db.new");
  mkdirSync(path.join(blocked, "in-the-way"), { recursive: true });
  const failed = await home.cli(["ls"]);
  expect(failed.code).toBe(10);
  expect(existsSync(path.join(home.path, "holdfast.db"))).toBe(false);
  renameSync(blocked, path.join(home.root, "moved"));
  expect(await names(home)).toEqual(["kept"]);
  expect((await status(home)).restored).toMatchObject({ why: "damaged", backup: { name: expect.any(String) } });
});
