/** Exactly one daemon per home, despite leftovers of the last one, and its control by `up`, `down` and `status`. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import type { AnyEvent, DaemonStatus, Session } from "@holdfast/contract";
import { argumentsOf, inspect } from "@holdfast/platform";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { lives } from "./proc.ts";

const TICKING = "while :; do echo tick; sleep 0.05; done";

test("twenty commands at once on a fresh home start one daemon", async () => {
  await using home = new TestHome();
  const statuses = await Promise.all(Array.from({ length: 20 }, () => home.json<DaemonStatus>(["status"])));
  expect(new Set(statuses.map(({ pid }) => pid)).size).toBe(1);
  expect(await startsOf(home)).toHaveLength(1);
  expect(daemonsOf(home)).toEqual([statuses[0]?.pid]);
});

test("twenty commands at once after kill -9 start one daemon, and none of them fails", async () => {
  await using home = new TestHome();
  await home.run(TICKING, "--name", "ticker");
  await home.killDaemon();
  const lists = await Promise.all(Array.from({ length: 20 }, () => home.json<Session[]>(["ls"])));
  expect(lists.map((sessions) => sessions.map(({ name }) => name))).toEqual(lists.map(() => ["ticker"]));
  expect(await startsOf(home)).toHaveLength(2);
  expect(daemonsOf(home)).toHaveLength(1);
});

test("the daemon listens at its socket path, whatever file was there", async () => {
  await using home = new TestHome();
  await home.killDaemon();
  const socket = path.join(home.socketDirectory, "daemon.sock");
  expect(existsSync(socket)).toBe(true);
  expect((await home.json<DaemonStatus>(["status"])).socket).toBe(socket);

  await home.killDaemon();
  rmSync(socket);
  writeFileSync(socket, "not a socket");
  await home.ok(["status"]);
  expect(statSync(socket).isSocket()).toBe(true);
  expect(statSync(socket).mode & 0o777).toBe(0o600);
});

test("down does not signal a process that reuses the pid of an old daemon", async () => {
  await using home = new TestHome();
  await home.killDaemon();
  const file = path.join(home.path, "daemon.json");
  const stale = JSON.parse(readFileSync(file, "utf8")) as { pid: number; start: string };
  using bystander = spawnBystander();
  writeFileSync(file, JSON.stringify({ ...stale, pid: bystander.pid }));

  expect(await home.ok(["down"])).toBe("The daemon was not running.\n");
  expect(lives(bystander.pid)).toBe(true);
  // The same for a daemon that does not answer: only the very same process may be signalled.
  const pid = await home.daemonPid();
  writeFileSync(file, JSON.stringify({ pid: bystander.pid, start: stale.start }));
  rmSync(path.join(home.socketDirectory, "daemon.sock"));
  await home.cli(["down"]);
  await home.ok(["status"]);
  expect(lives(bystander.pid)).toBe(true);
  expect(pid).not.toBe(bystander.pid);
});

test("a daemon whose socket was deleted listens again, and open streams continue", async () => {
  await using home = new TestHome();
  const { id } = await home.run(TICKING);
  const pid = await home.daemonPid();
  const follower = home.start(["events", "-f"]);
  using _ = { [Symbol.dispose]: () => void follower.kill() };
  let followed = "";
  follower.stdout.setEncoding("utf8").on("data", (chunk) => {
    followed += chunk;
  });
  await eventually(() => followed.includes("session.started"));

  rmSync(path.join(home.socketDirectory, "daemon.sock"));
  expect(await home.daemonPid()).toBe(pid);
  await home.ok(["rename", id, "renamed"]);
  await eventually(() => followed.includes("session.renamed"));
  expect(await startsOf(home)).toHaveLength(1);
});

test("a daemon whose socket directory was deleted listens again, and so does its tmux server", async () => {
  await using home = new TestHome();
  const before = await home.run(TICKING, "--name", "ticker");
  const status = await home.json<DaemonStatus>(["status"]);
  // Renamed first: the daemon would write into the directory again before it is empty.
  const gone = `${home.socketDirectory}.gone`;
  renameSync(home.socketDirectory, gone);
  rmSync(gone, { recursive: true });
  expect(await home.json<DaemonStatus>(["status"])).toMatchObject({ pid: status.pid, tmux: { pid: status.tmux?.pid } });
  await home.run("echo works", "--name", "next");
  expect(await home.ended("next")).toMatchObject({ status: "done" });
  expect(await home.session("ticker")).toMatchObject({ status: "working", pid: before.pid });
  expect(statSync(home.socketDirectory).mode & 0o777).toBe(0o700);
});

test("down ends a hanging daemon, and its sessions are found again", async () => {
  await using home = new TestHome();
  const { pid } = await home.run(TICKING, "--name", "ticker");
  const hung = await home.daemonPid();
  process.kill(hung, "SIGSTOP");
  await home.ok(["down"]);
  expect(lives(hung)).toBe(false);
  expect(await home.session("ticker")).toMatchObject({ status: "working", pid });
  expect(await home.daemonPid()).not.toBe(hung);
});

test("down --all ends everything, even if the daemon hangs", async () => {
  await using home = new TestHome();
  const { pid } = await home.run(TICKING);
  const hung = await home.daemonPid();
  process.kill(hung, "SIGSTOP");
  await home.ok(["down", "--all", "--grace", "1s"]);
  expect(lives(hung)).toBe(false);
  expect(lives(Number(pid))).toBe(false);
  expect(home.processes()).toEqual([]);
});

test("down leaves sessions running and recorded; status and every other command start a daemon again", async () => {
  await using home = new TestHome();
  const before = await home.run(TICKING, "--name", "ticker");
  expect(await home.ok(["down"])).toBe("The daemon has stopped. Sessions keep running.\n");
  expect(daemonsOf(home)).toEqual([]);
  expect(await home.ok(["down"])).toBe("The daemon was not running.\n");
  expect(daemonsOf(home)).toEqual([]);

  const size = statSync(before.outputPath ?? "").size;
  await eventually(() => statSync(before.outputPath ?? "").size > size + 20);
  const status = await home.json<DaemonStatus>(["status"]);
  expect(status).toMatchObject({ home: home.path, sessions: { running: 1, ended: 0 } });
  expect(lives(status.pid)).toBe(true);
  expect(await home.session("ticker")).toMatchObject({ status: "working", pid: before.pid });

  await home.ok(["down"]);
  expect(await home.ok(["up"])).toMatch(/^The daemon is running: pid \d+, version \S+, home /);
  expect(await home.ok(["up", "--json"]).then(JSON.parse)).toMatchObject({ pid: await home.daemonPid(), home: home.path });
  const stops = await eventsOf(home, "daemon.stopped");
  expect(stops.map(({ data }) => data.why)).toEqual(["asked", "asked"]);
});

test("a request during the daemon's shutdown is done and answered, by this daemon or the next", async () => {
  await using home = new TestHome();
  for (let round = 0; round < 6; round++) {
    await home.ok(["up"]);
    const runs = Array.from({ length: 4 }, () => home.cli(["run", "--", "sleep", "1000"]));
    // Each round waits a little longer: before, during and after the start of the programs.
    await new Promise((resolve) => setTimeout(resolve, round * 30));
    await home.ok(["down"]);
    const replies = await Promise.all(runs);
    expect(replies.filter(({ code }) => code !== 0)).toEqual([]);
  }
  const sessions = await home.json<Session[]>(["ls", "--all"]);
  expect(sessions.map(({ status }) => status)).toEqual(Array.from({ length: 24 }, () => "working"));
});

test("SIGTERM ends the daemon cleanly and leaves sessions running", async () => {
  await using home = new TestHome();
  const { pid } = await home.run(TICKING, "--name", "ticker");
  const daemon = await home.daemonPid();
  process.kill(daemon, "SIGTERM");
  await eventually(() => !lives(daemon));
  expect(await home.session("ticker")).toMatchObject({ status: "working", pid });
  expect((await eventsOf(home, "daemon.stopped")).map(({ data }) => data)).toEqual([{ pid: daemon, why: "signal" }]);
});

test("down --all ends every session, keeper and daemon, and leaves no process of the home", async () => {
  await using home = new TestHome();
  await home.run(TICKING, "--name", "ticker");
  await home.run("trap '' TERM; while :; do sleep 0.05; done", "--name", "deaf");
  await home.json<Session>(["spawn", "demo", "--name", "agent"]);
  // Left behind by a program that has ended.
  await home.run("trap '' HUP; setsid sleep 1000 & sleep 0.1", "--name", "parent");
  await home.ended("parent");
  expect(home.processes().length).toBeGreaterThan(5);

  const reply = JSON.parse(await home.ok(["down", "--all", "--grace", "300ms", "--json"])) as { pid: number; stopped: Session[] };
  await eventually(() => home.processes().length === 0).catch(() => expect(home.processes()).toEqual([]));
  expect(reply.stopped.map(({ name, status }) => `${name} ${status}`).sort()).toEqual(["agent stopped", "deaf stopped", "ticker stopped"]);
  const statuses = (await home.json<Session[]>(["ls", "--all"])).map(({ name, status }) => `${name} ${status}`);
  expect(statuses).toEqual(["ticker stopped", "deaf stopped", "agent stopped", "parent done"]);
});

test("a socket directory that is a link, that others can enter, or that belongs to another user is refused", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const directory = home.socketDirectory;
  const refused = { code: 14, stdout: "", stderr: expect.stringContaining(`${directory} is not a private directory that you own`) };

  chmodSync(directory, 0o777);
  expect(await home.cli(["ls"])).toEqual(refused);
  await expect(home.cli(["run", "--", "true"])).resolves.toEqual(refused);
  chmodSync(directory, 0o700);
  await home.ok(["down"]);

  // A starting daemon refuses it too.
  chmodSync(directory, 0o750);
  expect(await home.cli(["status"])).toEqual(refused);
  chmodSync(directory, 0o700);
  const elsewhere = path.join(home.root, "elsewhere");
  renameSync(directory, elsewhere);
  symlinkSync(elsewhere, directory);
  expect(await home.cli(["status"])).toEqual(refused);
  rmSync(directory);
  if (process.getuid?.() === 0) {
    mkdirSync(directory, { mode: 0o700 });
    chownSync(directory, 65534, 65534);
    expect(await home.cli(["status"])).toEqual(refused);
    rmSync(directory, { recursive: true });
  }
  await home.ok(["status"]);
});

test("another program that answers on the socket is not mistaken for a daemon, and is replaced by one", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  await home.ok(["down"]);
  const socket = path.join(home.socketDirectory, "daemon.sock");
  const impostor = createServer((connection) => connection.on("error", () => {}).end("220 welcome\r\n\r\n"));
  await new Promise<void>((resolve) => impostor.listen(socket, resolve));
  // A request that changes something is never repeated on a guess; a read is.
  const { code, stderr } = await home.cli(["run", "--", "true"]);
  expect({ code, stderr }).toEqual({ code: 10, stderr: expect.stringContaining("another program answers") });
  expect(await home.json<Session[]>(["ls", "--all"])).toEqual([]);
  expect(daemonsOf(home)).toEqual([await home.daemonPid()]);
  impostor.close();
});

test("a read from an unresponsive daemon says so, and completes once the daemon responds", async () => {
  await using home = new TestHome();
  await home.ok(["run", "--name", "one", "--", "sleep", "1000"]);
  const hung = await home.daemonPid();
  process.kill(hung, "SIGSTOP");
  const asking = home.start(["ls"]);
  let said = "";
  asking.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  await eventually(() => said.includes("holdfast down"));
  process.kill(hung, "SIGCONT");
  expect(await new Promise((resolve) => asking.on("close", resolve))).toBe(0);
});

async function eventsOf(home: TestHome, type: string): Promise<AnyEvent[]> {
  const lines = await home.ok(["events", "--type", type]);
  return lines
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AnyEvent);
}

function startsOf(home: TestHome): Promise<AnyEvent[]> {
  return eventsOf(home, "daemon.started");
}

/** The pids of this home's live daemons. */
function daemonsOf(home: TestHome): number[] {
  return home
    .processes()
    .filter(({ pid }) => argumentsOf(pid).some((argument) => argument.endsWith("/daemon.mjs")))
    .map(({ pid }) => pid);
}

/** A process unrelated to Holdfast. */
function spawnBystander(): Disposable & { pid: number } {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  const { pid = 0 } = child;
  expect(inspect(pid)).toBeDefined();
  return { pid, [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

test.each(["tmux", "native"])(
  "a daemon whose home is deleted exits, sessions on the %s host continue, and the next daemon finds them",
  async (host) => {
    await using home = new TestHome();
    const { pid, id } = await home.run("exec sleep 1000", "--host", host, "--name", "worker");
    const daemon = await home.daemonPid();
    rmSync(home.path, { recursive: true, force: true });
    await eventually(() => !lives(daemon));
    expect(lives(pid ?? 0)).toBe(true);
    expect(await home.json(["ls", "--all"])).toEqual([]);
    expect(await home.json(["orphans"])).toMatchObject([{ id: `${id}-1`, adoptable: false }]);
    expect(lives(pid ?? 0)).toBe(true);
    await home.ok(["orphans", "stop", `${id}-1`]);
    expect(lives(pid ?? 0)).toBe(false);
  },
);

test("a home that is moved away and back quickly is the same home", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const daemon = await home.daemonPid();
  renameSync(home.path, `${home.path}.moved`);
  renameSync(`${home.path}.moved`, home.path);
  await home.run("sleep 1.5", "--name", "worker");
  await home.ended("worker");
  expect(await home.daemonPid()).toBe(daemon);
});
