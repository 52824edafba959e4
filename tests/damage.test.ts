/** What a daemon finds damaged when it starts, or under its hands: rows of docs/DAMAGE.md, with the whole product. */
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
    missing: "the newest backup is restored, later sessions are rebuilt from their files, a new epoch and a report",
    empty: "set aside, the newest backup restored, later sessions rebuilt from their files, a new epoch and a report",
    torn: "set aside, the newest backup restored with what can still be read, the rest rebuilt from files, a new epoch and a report",
    garbage: "set aside, the newest backup restored, later sessions rebuilt from their files, a new epoch and a report",
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
    expect(first.stderr).toContain("and another is in its place");
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
    missing: "set aside; what the database itself has is kept, later sessions are rebuilt from their files, a new epoch and a report",
    empty: "set aside; what the database itself has is kept, later sessions are rebuilt from their files, a new epoch and a report",
    torn: "set aside; whole transactions before the cut are kept, later sessions are rebuilt from their files, a new epoch and a report",
    garbage: "set aside; what the database itself has is kept, later sessions are rebuilt from their files, a new epoch and a report",
  },
  async (how, hurt) => {
    await using home = new TestHome();
    const kept = await home.json<Session>(["run", "--name", "kept", ...FOREVER]);
    // Closed in order, the log is in the database.
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
    empty: "passed over: the next older one is restored",
    torn: "passed over: the next older one is restored",
    garbage: "passed over: the next older one is restored",
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
    empty: "every page of the database is looked at, and what is good stays",
    torn: "every page of the database is looked at, and what is good stays",
    garbage: "every page of the database is looked at, and what is good stays",
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
    missing: "the session stays as the journal has it; if the journal is lost too, its directory is named in the report and left alone",
    empty: "the session stays as the journal has it; if the journal is lost too, its directory is named in the report and left alone",
    torn: "the session stays as the journal has it; if the journal is lost too, its directory is named in the report and left alone",
    garbage: "the session stays as the journal has it; if the journal is lost too, its directory is named in the report and left alone",
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
    // It is said once, and not at each start.
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
    missing: "the journal knows that the run was stopped; if the journal is lost too, it ended by itself, and no other follows",
    empty: "the run was stopped: that the file is there says it",
    torn: "the run was stopped: that the file is there says it",
    garbage: "the run was stopped: that the file is there says it",
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
    missing: "the daemon is reached, ended and started all the same",
    empty: "the daemon is reached, ended and started all the same",
    torn: "the daemon is reached, ended and started all the same",
    garbage: "the daemon is reached, ended and started all the same",
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
    missing: "written anew before a server reads it",
    empty: "written anew before a server reads it",
    torn: "written anew before a server reads it",
    garbage: "written anew before a server reads it",
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
    missing: "the server is found by its socket, or by its arguments",
    empty: "the server is found by its socket, or by its arguments",
    torn: "the server is found by its socket, or by its arguments",
    garbage: "the server is found by its socket, or by its arguments",
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
    missing: "tmux is asked how the run ended, at the next look",
    empty: "tmux is asked how the run ended, at the next look",
    torn: "tmux is asked how the run ended, at the next look",
    garbage: "tmux is asked how the run ended, at the next look",
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
    missing: "programs start without a reaper, and tmux says how they end",
    empty: "programs start without a reaper, and tmux says how they end",
    torn: "programs start without a reaper, and tmux says how they end",
    garbage: "programs start without a reaper, and tmux says how they end",
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
    missing: "what runs is found by the journal, and ends as ever",
    empty: "what runs is found by the journal, and ends as ever",
    torn: "what runs is found by the journal, and ends as ever",
    garbage: "what runs is found by the journal, and ends as ever",
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
    missing: "the end of the run waits for it a while; the recording is whole",
    empty: "the end of the run waits for it a while; the recording is whole",
    torn: "the recording is whole",
    garbage: "the end of the run waits for it a while; the recording is whole",
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
    missing: "the holder is found by its socket, and its file written anew",
    empty: "the holder is found by its socket, and its file written anew",
    torn: "the holder is found by its socket, and its file written anew",
    garbage: "the holder is found by its socket, and its file written anew",
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
    missing: "turns are put back from the journal, and that is said in the transcript, by show and doctor, and as an event",
    empty: "turns are put back from the journal, and that is said in the transcript, by show and doctor, and as an event",
    torn: "set aside; lost turns are put back from the journal behind what can be read, and that is said",
    garbage: "set aside; turns are put back from the journal, and that is said in the transcript, by show and doctor, and as an event",
  },
  async (how, hurt) => {
    await using home = new TestHome();
    const { id } = await home.json<Session>(["spawn", "--chat", "demo", "--name", "talk"]);
    for (const words of ["apples", "pears"]) await home.ok(["send", "talk", `say ${words}`, "--wait"]);
    await home.ok(["stop", "talk"]);
    hurt(path.join(home.path, "sessions", id, "runs/1/transcript.jsonl"));
    const text = await home.ok(["transcript", "talk"]);
    for (const words of ["say apples", "apples", "say pears", "pears", "put back from the journal"]) expect(text).toContain(words);
    expect(await home.ok(["show", "talk"])).toMatch(/^damaged +the transcript of run 1 .* put back from the journal/m);
    expect((await home.cli(["doctor"])).stdout).toContain("talk (run 1, ");
    const aside = path.join(home.path, "damaged");
    expect(existsSync(aside)).toBe(how === "torn" || how === "garbage");
    expect(await home.ok(["events", "--type", "transcript.damaged", "--json"])).toContain('"turns":');
  },
);
