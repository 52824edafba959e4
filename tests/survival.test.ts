/** Sessions survive the end of their starting terminal and of their clients. */
import type { DaemonStatus, Session } from "@holdfast/contract";
import { allProcesses, inspect } from "@holdfast/platform";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { cwdOf, environmentOf, lives } from "./proc.ts";
import { recordingGrows } from "./recorded.ts";
import { Terminal } from "./terminal.ts";

const TICKING = "while :; do echo tick; sleep 0.05; done";

test("a session keeps running after its starting terminal is closed (SYM-01 spine)", async () => {
  await using home = new TestHome();
  using terminal = new Terminal({ env: home.env });
  await terminal.command(`'${HOLDFAST}' run --name ticker -- sh -c '${TICKING}' && echo started`);
  await terminal.shows(/^started/m);
  const shell = terminal.shellPid;
  const before = await home.session("ticker");
  const daemon = await home.daemonPid();

  terminal.tmux("kill-server");
  await eventually(() => !lives(shell));

  await recordingGrows(before);
  expect(await home.session("ticker")).toMatchObject({ status: "working", pid: before.pid, runs: 1 });
  expect(await home.daemonPid()).toBe(daemon);
  const starts = await home.ok(["events", "--type", "daemon.started"]);
  expect(starts.trim().split("\n")).toHaveLength(1);
});

test("closing an attached terminal ends only its client (SYM-01 spine)", async () => {
  await using home = new TestHome();
  const before = await home.run(TICKING, "--name", "ticker");
  using terminal = new Terminal({ env: home.env });
  await terminal.command(`'${HOLDFAST}' attach ticker`);
  await terminal.shows("ticker · shell");
  const client = childOf(terminal.shellPid);

  terminal.tmux("kill-server");
  await eventually(() => !lives(client));

  await recordingGrows(before);
  expect(await home.session("ticker")).toMatchObject({ status: "working", pid: before.pid });
});

test("a SIGHUP to the starting terminal's process session, the daemon and the tmux server ends neither daemon nor program (SYM-01 spine)", async () => {
  await using home = new TestHome();
  using terminal = new Terminal({ env: home.env });
  await terminal.command(`'${HOLDFAST}' run --name ticker -- sh -c '${TICKING}' && echo started`);
  await terminal.shows(/^started/m);
  const { session } = inspect(terminal.shellPid) ?? {};
  const before = await home.session("ticker");
  const status = await home.json<DaemonStatus>(["status"]);

  for (const info of allProcesses().values()) if (info.session === session) process.kill(info.pid, "SIGHUP");
  for (const pid of [status.pid, tmuxPid(status)]) process.kill(pid, "SIGHUP");
  await recordingGrows(before);
  expect(await home.json<DaemonStatus>(["status"])).toMatchObject({ pid: status.pid, tmux: { pid: tmuxPid(status) } });
});

test("killing an attached client with SIGKILL affects neither the session nor its other clients (SYM-01 spine)", async () => {
  await using home = new TestHome();
  const before = await home.run(`${TICKING}`, "--name", "ticker");
  using terminal = new Terminal({ env: home.env });
  using other = new Terminal({ env: home.env });
  for (const each of [terminal, other]) {
    await each.command(`'${HOLDFAST}' attach ticker`);
    await each.shows("ticker · shell");
  }

  const client = childOf(terminal.shellPid);
  process.kill(client, "SIGKILL");
  await eventually(() => !lives(client));

  await recordingGrows(before);
  expect(await home.session("ticker")).toMatchObject({ status: "working", pid: before.pid });
  // This terminal drives now, and shows a notice about it for a while.
  await other.shows("ticker · shell");
  expect(JSON.parse(await home.ok(["detach", "ticker", "--json"]))).toMatchObject([{ detached: 1 }]);
});

test("a `run` killed with SIGKILL at any moment leaves the daemon running and no session half started (SYM-01 spine)", async () => {
  await using home = new TestHome();
  for (let round = 0; round < 12; round++) {
    const client = home.start(["run", "--name", `n${round}`, "--", "sh", "-c", TICKING]);
    const gone = new Promise((resolve) => client.on("close", resolve));
    await new Promise((resolve) => setTimeout(resolve, round * 20));
    client.kill("SIGKILL");
    await gone;
  }
  // The daemon completes every request that it received; a request that was not sent leaves nothing.
  const sessions = await eventually(async () => {
    const all = await home.json<Session[]>(["ls", "--all"]);
    return all.every(({ status }) => status !== "starting") && all;
  });
  for (const session of sessions) {
    expect(session).toMatchObject({ status: "working", endedAt: null });
    await recordingGrows(session);
  }
  const programs = home.processes().filter(({ pid, session }) => session === pid && environmentOf(pid).HOLDFAST_RUN !== undefined);
  expect(programs.map(({ pid }) => pid).sort()).toEqual(sessions.map(({ pid }) => pid).sort());
});

test("the daemon and the tmux server are detached from their starting terminal, with a minimal environment (SYM-01 spine)", async () => {
  await using home = new TestHome();
  using terminal = new Terminal({ env: { ...home.env, SECRET: "of the first caller", LD_PRELOAD: "", VIRTUAL_ENV: "/venv" } });
  await terminal.command(`cd '${home.root}' && '${HOLDFAST}' run -- sh -c '${TICKING}' && echo started`);
  await terminal.shows(/^started/m);
  const status = await home.json<DaemonStatus>(["status"]);

  for (const keeper of [status.pid, tmuxPid(status)]) {
    expect(inspect(keeper)).toMatchObject({ session: keeper, tty: "", parent: 1 });
    expect(cwdOf(keeper)).toBe("/");
    const { PATH, SHELL, LANG, HOME, USER, HOLDFAST_HOME, ...more } = environmentOf(keeper);
    expect({ PATH, SHELL, LANG, HOME, USER, HOLDFAST_HOME }).toEqual({
      PATH: expect.stringMatching(/^\/usr\/local\/sbin:/),
      SHELL: "/bin/sh",
      LANG: "C.UTF-8",
      HOME: home.env.HOME,
      USER: home.env.USER,
      HOLDFAST_HOME: home.path,
    });
    expect(Object.keys(more)).toEqual([]);
  }
});

function tmuxPid({ tmux }: DaemonStatus): number {
  if (!tmux?.pid) throw new Error("the daemon knows no tmux server");
  return tmux.pid;
}

/** The foreground process of the terminal's shell. */
function childOf(shell: number): number {
  const child = [...allProcesses().values()].find(({ parent, zombie }) => parent === shell && !zombie);
  if (!child) throw new Error("the terminal's shell runs nothing");
  return child.pid;
}
