/** Damage that a daemon finds at its start or while it runs, tested with the whole product. Rows of docs/DAMAGE.md. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Backup, DaemonStatus, Orphan, Session } from "@holdfast/contract";
import { expect } from "vitest";
import { cells } from "./damaged.ts";
import { eventually, ROOT, TestHome } from "./home.ts";
import { lives } from "./proc.ts";

const FOREVER = ["--", "sleep", "1000"];

async function names(home: TestHome): Promise<string[]> {
  return (await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name).sort();
}

function status(home: TestHome): Promise<DaemonStatus> {
  return home.json<DaemonStatus>(["status"]);
}

cells(
  "holdfast.db",
  {
    missing: "the newest backup is restored, later sessions are rebuilt from their files, and a new epoch and a report follow",
    empty: "set aside; the newest backup is restored, later sessions are rebuilt from their files, and a new epoch and a report follow",
    torn: "set aside; the newest backup is restored with all readable later events, other sessions are rebuilt from their files, and a new epoch and a report follow",
    garbage: "set aside; the newest backup is restored, later sessions are rebuilt from their files, and a new epoch and a report follow",
  },
  async (how, hurt) => {
    await using home = new TestHome();
    const kept = await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
    await home.run("echo said; exit 3", "--name", "ended");
    await home.ended("ended");
    const before = await home.json<Backup>(["backup", "create"]);
    const later = await home.json<Session>(["run", "--name", "later", ...FOREVER]);
    const old = await status(home);
    await home.ok(["down"]);
    hurt(path.join(home.path, "holdfast.db"));

    const first = await home.cli(["ls", "--all"]);
    expect(first.stderr).toContain("and was replaced");
    expect(first.stderr).toContain(before.name);
    expect(await names(home)).toEqual(["ended", "kept", "later"]);
    expect(await home.session("kept")).toMatchObject({ status: "working", pid: kept.pid, startedAt: kept.startedAt });
    expect(await home.session("later")).toMatchObject({
      status: "working",
      pid: later.pid,
      owner: later.owner,
      createdAt: expect.any(String),
    });
    expect(await home.session("ended")).toMatchObject({ status: "failed", exit: { code: 3, signal: null } });
    expect(await home.ok(["logs", "ended"])).toBe("said\n");
    const now = await status(home);
    expect(now.epoch).not.toBe(old.epoch);
    expect(now.restored).toMatchObject({ why: "damaged", backup: { name: before.name }, previousEpoch: old.epoch });
    const gone = await home.cli(["events", "--after", `${old.epoch}:${old.seq}`]);
    expect(gone.code, "a cursor is refused when its event is lost").toBe((now.restored?.seq ?? 0) < old.seq ? 13 : 0);
    const aside = path.join(home.path, "damaged");
    const files = existsSync(aside) ? readdirSync(aside, { recursive: true }).map(String) : [];
    expect(files.some((file) => file.endsWith("holdfast.db"))).toBe(how !== "missing");
  },
);

cells(
  "holdfast.db-wal",
  {
    missing:
      "set aside; the content of the database is kept, later sessions are rebuilt from their files, and a new epoch and a report follow",
    empty:
      "set aside; the content of the database is kept, later sessions are rebuilt from their files, and a new epoch and a report follow",
    torn: "set aside; complete transactions before the cut are kept, later sessions are rebuilt from their files, and a new epoch and a report follow",
    garbage:
      "set aside; the content of the database is kept, later sessions are rebuilt from their files, and a new epoch and a report follow",
  },
  async (how, hurt) => {
    await using home = new TestHome();
    const kept = await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
    // A clean shutdown moves the log into the database.
    await home.ok(["down"]);
    const later: Session[] = [];
    for (const name of ["later-1", "later-2", "later-3"]) later.push(await home.json<Session>(["run", "--name", name, ...FOREVER]));
    await home.killDaemon();
    hurt(path.join(home.path, "holdfast.db-wal"));

    expect((await home.cli(["ls"])).stderr).toContain("The journal's database was damaged");
    expect(await names(home)).toEqual(["kept", "later-1", "later-2", "later-3"]);
    for (const { name, pid } of [kept, ...later]) expect(await home.session(name)).toMatchObject({ status: "working", pid });
    const { restored } = await status(home);
    expect(restored).toMatchObject({ salvaged: true, backup: null });
    expect(restored?.sessions.rebuilt.length).toBeGreaterThan(how === "torn" ? 0 : 2);
    expect(restored?.sessions.removed).toEqual([]);
  },
);

cells(
  "backups/*.db",
  {
    missing: "the next older one is restored",
    empty: "skipped; the next older one is restored",
    torn: "skipped; the next older one is restored",
    garbage: "skipped; the next older one is restored",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
    const older = await home.json<Backup>(["backup", "create"]);
    const newer = await home.json<Backup>(["backup", "create"]);
    await home.ok(["down"]);
    hurt(path.join(home.path, "backups", `${newer.name}.db`));
    writeFileSync(path.join(home.path, "holdfast.db"), "this is no database at all".repeat(1000));
    expect(await names(home)).toEqual(["kept"]);
    expect((await status(home)).restored).toMatchObject({ backup: { name: older.name }, sessions: { rebuilt: [], removed: [] } });
  },
);

cells(
  "restore.json",
  {
    missing: "nothing is restored",
    empty: "every page of the database is checked, and a good database stays",
    torn: "every page of the database is checked, and a good database stays",
    garbage: "every page of the database is checked, and a good database stays",
  },
  async (how, hurt) => {
    await using home = new TestHome();
    await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
    const before = await status(home);
    await home.ok(["down"]);
    const order = path.join(home.path, "restore.json");
    writeFileSync(order, JSON.stringify({ id: "x", at: "2026-11-15T00:00:00.000Z", why: "asked", what: "w", backup: "none" }));
    hurt(order);
    expect(await status(home)).toMatchObject({ epoch: before.epoch, restored: null });
    expect([how, existsSync(order)]).toEqual([how, false]);
    expect(await names(home)).toEqual(["kept"]);
  },
);

cells(
  "spec.json",
  {
    missing:
      "the session stays as recorded in the journal; if the journal is lost too, the report names the directory, which is not changed",
    empty: "the session stays as recorded in the journal; if the journal is lost too, the report names the directory, which is not changed",
    torn: "the session stays as recorded in the journal; if the journal is lost too, the report names the directory, which is not changed",
    garbage:
      "the session stays as recorded in the journal; if the journal is lost too, the report names the directory, which is not changed",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    const hurtOne = await home.json<Session>(["run", "--name", "hurt", ...FOREVER]);
    const whole = await home.json<Session>(["run", "--name", "whole", ...FOREVER]);
    hurt(path.join(home.path, "sessions", hurtOne.id, "spec.json"));
    await home.killDaemon();
    expect(await home.session("hurt")).toMatchObject({ status: "working", pid: hurtOne.pid });
    await home.ok(["down"]);
    writeFileSync(path.join(home.path, "holdfast.db"), "");
    expect((await home.cli(["ls"])).stderr).toContain(hurtOne.id);
    expect(await names(home)).toEqual(["whole"]);
    expect(await home.session("whole")).toMatchObject({ pid: whole.pid, status: "working" });
    expect((await status(home)).restored?.sessions.unreadable).toEqual([hurtOne.id]);
    expect(lives(hurtOne.pid ?? 0)).toBe(true);
    const orphans = await home.json<Orphan[]>(["orphans"]);
    expect(orphans).toEqual([expect.objectContaining({ session: hurtOne.id, kind: "run", adoptable: false })]);
    // The notice appears once, not at each start.
    const { epoch } = await status(home);
    for (let i = 0; i < 2; i++) {
      await home.ok(["down"]);
      expect((await status(home)).epoch).toBe(epoch);
    }
  },
);

cells(
  "stop",
  {
    missing: "the journal knows that the run was stopped; if the journal is lost too, the run counts as failed, and no other follows",
    empty: "the run was stopped: the presence of the file is enough",
    torn: "the run was stopped: the presence of the file is enough",
    garbage: "the run was stopped: the presence of the file is enough",
  },
  async (how, hurt) => {
    await using home = new TestHome();
    const { id } = await home.json<Session>(["run", "--name", "stopped", "--restart", "always", ...FOREVER]);
    await home.ok(["stop", "stopped"]);
    hurt(path.join(home.path, "sessions", id, "runs/1/stop"));
    await home.ok(["down"]);
    expect(await home.session("stopped")).toMatchObject({ status: "stopped", runs: 1 });
    await home.ok(["down"]);
    writeFileSync(path.join(home.path, "holdfast.db"), "");
    const found = await home.session("stopped");
    expect(found).toMatchObject({ status: how === "missing" ? "failed" : "stopped", restartAt: null, runs: 1 });
  },
);

cells(
  "daemon.json",
  {
    missing: "the daemon is still reached, stopped and started",
    empty: "the daemon is still reached, stopped and started",
    torn: "the daemon is still reached, stopped and started",
    garbage: "the daemon is still reached, stopped and started",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    const pid = await home.daemonPid();
    hurt(path.join(home.path, "daemon.json"));
    expect(await home.daemonPid()).toBe(pid);
    await home.ok(["down"]);
    expect(lives(pid)).toBe(false);
    await home.daemonPid();
    await home.killDaemon();
    hurt(path.join(home.path, "daemon.json"));
    expect(await home.daemonPid()).not.toBe(pid);
  },
);

cells(
  "lock of a daemon that lives",
  {
    missing: "no second daemon takes the home",
    empty: "no second daemon takes the home",
    torn: "no second daemon takes the home",
    garbage: "no second daemon takes the home",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    const pid = await home.daemonPid();
    hurt(path.join(home.path, "lock"));
    const second = spawnSync(process.execPath, [path.join(ROOT, "dist", "daemon.mjs")], { env: home.env, timeout: 20_000 });
    expect(second.status).toBe(75);
    expect(await home.daemonPid()).toBe(pid);
  },
);

cells(
  "tmux.conf",
  {
    missing: "rewritten before a server reads it",
    empty: "rewritten before a server reads it",
    torn: "rewritten before a server reads it",
    garbage: "rewritten before a server reads it",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    await home.ok(["up"]);
    hurt(path.join(home.path, "tmux.conf"));
    await home.run("exit 5", "--name", "five", "--host", "tmux");
    expect(await home.ended("five")).toMatchObject({ exit: { code: 5, signal: null } });
  },
);

cells(
  "tmux.json",
  {
    missing: "the server is found by its socket or its arguments",
    empty: "the server is found by its socket or its arguments",
    torn: "the server is found by its socket or its arguments",
    garbage: "the server is found by its socket or its arguments",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    const { pid } = await home.json<Session>(["run", "--host", "tmux", "--name", "kept", ...FOREVER]);
    await home.killDaemon();
    hurt(path.join(home.path, "tmux.json"));
    expect(await home.session("kept")).toMatchObject({ status: "working", pid });
  },
);

cells(
  "pane-died",
  {
    missing: "the next sweep asks tmux how the run ended",
    empty: "the next sweep asks tmux how the run ended",
    torn: "the next sweep asks tmux how the run ended",
    garbage: "the next sweep asks tmux how the run ended",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    await home.run("while [ ! -e go ]; do sleep 0.02; done; echo last; exit 6", "--name", "six", "--host", "tmux");
    hurt(path.join(home.path, "pane-died"));
    writeFileSync(path.join(home.root, "go"), "");
    expect(await home.ended("six")).toMatchObject({ exit: { code: 6, signal: null }, cause: "exited" });
    expect(await home.ok(["logs", "six"])).toBe("last\n");
  },
);

cells(
  "pane-reaper",
  {
    missing: "programs start without a reaper, and tmux reports how they end",
    empty: "programs start without a reaper, and tmux reports how they end",
    torn: "programs start without a reaper, and tmux reports how they end",
    garbage: "programs start without a reaper, and tmux reports how they end",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    await home.ok(["up"]);
    hurt(path.join(home.path, "pane-reaper"));
    const session = await home.run("echo $$; while [ ! -e go ]; do sleep 0.02; done; exit 6", "--name", "six", "--host", "tmux");
    writeFileSync(path.join(home.root, "go"), "");
    expect(await home.ended("six")).toMatchObject({ exit: { code: 6, signal: null }, cause: "exited" });
    expect((await home.ok(["logs", "six"])).split("\n")).toContain(String(session.pid));
  },
);

cells(
  "program",
  {
    missing: "running programs are found by the journal, and end as usual",
    empty: "running programs are found by the journal, and end as usual",
    torn: "running programs are found by the journal, and end as usual",
    garbage: "running programs are found by the journal, and end as usual",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    const session = await home.run("while [ ! -e go ]; do sleep 0.02; done; exit 6", "--name", "six", "--host", "tmux");
    await home.killDaemon();
    hurt(path.join(home.path, "sessions", session.id, "runs/1/program"));
    expect(await home.session("six")).toMatchObject({ status: "working", pid: session.pid });
    writeFileSync(path.join(home.root, "go"), "");
    expect(await home.ended("six")).toMatchObject({ exit: { code: 6, signal: null }, cause: "exited" });
  },
);

cells(
  "recorder",
  {
    missing: "the end of the run waits a while; the recording is complete",
    empty: "the end of the run waits a while; the recording is complete",
    torn: "the recording is complete",
    garbage: "the end of the run waits a while; the recording is complete",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    const session = await home.run("echo first; while [ ! -e go ]; do sleep 0.02; done; echo last; exit 0", "--host", "tmux");
    const file = path.join(home.path, "sessions", session.id, "runs/1/recorder");
    await eventually(() => existsSync(file));
    await home.ok(["wait", session.id, "--for", "output=first", "--timeout", "60s"]);
    hurt(file);
    writeFileSync(path.join(home.root, "go"), "");
    expect(await home.ended(session.id)).toMatchObject({ exit: { code: 0 } });
    expect(await home.ok(["logs", session.id])).toBe("first\nlast\n");
  },
);

cells(
  "holders/<run>.json",
  {
    missing: "the holder is found by its socket, and its file is rewritten",
    empty: "the holder is found by its socket, and its file is rewritten",
    torn: "the holder is found by its socket, and its file is rewritten",
    garbage: "the holder is found by its socket, and its file is rewritten",
  },
  async (_how, hurt) => {
    await using home = new TestHome();
    const session = await home.json<Session>(["run", "--host", "native", "--name", "kept", "--", "cat"]);
    await home.killDaemon();
    hurt(path.join(home.path, "holders", `${session.id}-1.json`));
    expect(await home.session("kept")).toMatchObject({ status: "working", pid: session.pid });
    await home.ok(["send", "kept", "hello"]);
    await home.ok(["wait", "kept", "--for", "output=hello", "--timeout", "60s"]);
    expect(await home.json<Orphan[]>(["orphans"])).toEqual([]);
  },
);

cells(
  "transcript.jsonl",
  {
    missing: "turns are restored from the journal; the transcript, show, doctor and an event report it",
    empty: "turns are restored from the journal; the transcript, show, doctor and an event report it",
    torn: "set aside; the readable part is kept, lost turns are restored from the journal, and this is reported",
    garbage: "set aside; turns are restored from the journal; the transcript, show, doctor and an event report it",
  },
  async (how, hurt) => {
    await using home = new TestHome();
    const { id } = await home.json<Session>(["spawn", "--chat", "demo", "--name", "talk"]);
    for (const words of ["apples", "pears"]) await home.ok(["send", "talk", `say ${words}`, "--wait"]);
    await home.ok(["stop", "talk"]);
    hurt(path.join(home.path, "sessions", id, "runs/1/transcript.jsonl"));
    const text = await home.ok(["transcript", "talk"]);
    for (const words of ["say apples", "apples", "say pears", "pears", "restored from the journal"]) expect(text).toContain(words);
    expect(await home.ok(["show", "talk"])).toMatch(/^damaged +the transcript of run 1 .* restored from the journal/m);
    expect((await home.cli(["doctor"])).stdout).toContain("talk (run 1, ");
    const aside = path.join(home.path, "damaged");
    expect(existsSync(aside)).toBe(how === "torn" || how === "garbage");
    expect(await home.ok(["events", "--type", "transcript.damaged", "--json"])).toContain('"turns":');
  },
);
