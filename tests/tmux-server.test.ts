/** Failures of the tmux server and its recorders, and how the daemon finds the remaining processes. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, DaemonStatus } from "@holdfast/contract";
import { argumentsOf, openHome } from "@holdfast/platform";
import { expect, test } from "vitest";
import { attachTerminal } from "./attached.ts";
import { eventually, TestHome } from "./home.ts";
import { lives } from "./proc.ts";
import { recorded } from "./recorded.ts";
import { Terminal } from "./terminal.ts";

const COUNTING = "i=0; while :; do i=$((i + 1)); echo line $i; sleep 0.02; done";

test("a killed recorder is replaced, and the gap is an event", async () => {
  await using home = new TestHome();
  const session = await home.run(COUNTING);
  const { id, pid, outputPath } = session;
  const directory = path.dirname(outputPath ?? "");
  await eventually(() => recorded(session).includes("line 10\r\n"));
  const recorder = Number(readFileSync(path.join(directory, "recorder"), "utf8"));
  process.kill(recorder, "SIGKILL");

  const second = { outputPath: path.join(directory, "output-001.000000") };
  await eventually(() => recorded(second).split("\r\n").length > 10);
  const first = recorded(session);
  const gaps = await eventually(async () => {
    const told = await eventsOf(home, "recording.gap");
    return told.length > 0 && told;
  });
  expect(gaps.map(({ session, data }) => ({ session, ...data }))).toEqual([
    { session: id, run: 1, offset: first.length, bytes: null, why: expect.any(String) },
  ]);
  expect(await home.session(id)).toMatchObject({ status: "working", pid });

  // Output from before and after the gap is read in order as one recording, including the end.
  await home.ok(["stop", id]);
  const whole = await home.ok(["logs", "--raw", id]);
  expect(whole).toBe(first + recorded(second));
  const lines = numbersIn(whole);
  expect(lines).toEqual([...new Set(lines)].sort((a, b) => a - b));
  expect(lines.slice(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("a repeatedly killed recorder writes to a new file each time, and overwrites nothing", async () => {
  await using home = new TestHome();
  const { id, outputPath } = await home.run(COUNTING);
  const directory = path.dirname(outputPath ?? "");
  const names = ["output.000000", "output-001.000000", "output-002.000000"];
  const segments = names.map((name) => ({ outputPath: path.join(directory, name) }));
  for (const segment of segments) {
    await eventually(() => recorded(segment).length > 100);
    if (segment !== segments.at(-1)) process.kill(Number(readFileSync(path.join(directory, "recorder"), "utf8")), "SIGKILL");
  }
  expect(readdirSync(directory).filter((name) => name.startsWith("output"))).toEqual(names.toSorted());
  await home.ok(["stop", id]);
  const lines = numbersIn(await home.ok(["logs", "--raw", id]));
  expect(lines).toEqual([...new Set(lines)].sort((a, b) => a - b));
  expect(await eventsOf(home, "recording.gap")).toHaveLength(2);
});

test.each([
  ["while the daemon runs", []],
  ["while no daemon runs", ["kill"]],
  ["while no daemon runs and no file names the server", ["kill", "forget"]],
])("a tmux socket deleted %s is created again: attach and spawn work, and there is no second server", async (_, also: string[]) => {
  await using home = new TestHome();
  const before = await home.run(COUNTING, "--name", "counter");
  const server = await tmuxPid(home);
  if (also.includes("kill")) await home.killDaemon();
  if (also.includes("forget")) rmSync(path.join(home.path, "tmux.json"));
  rmSync(path.join(home.socketDirectory, "tmux.sock"));

  using terminal = await attachTerminal(home, { ref: "counter" });
  await terminal.shows(/line \d+/);
  const next = await home.run("echo next");
  expect(await home.ended(next.id)).toMatchObject({ status: "done" });
  expect(await home.session("counter")).toMatchObject({ status: "working", pid: before.pid });
  expect(await tmuxPid(home)).toBe(server);
  expect(serversOf(home)).toEqual([server]);
});

test("after kill -9 of the tmux server its sessions are lost within seconds, and the next session starts", async () => {
  await using home = new TestHome();
  const sessions = [await home.run(COUNTING), await home.run("sleep 1000")];
  const server = await tmuxPid(home);
  using client = home.client();
  process.kill(server, "SIGKILL");
  await eventually(async () => (await client.call("listSessions", { query: {} })).sessions.length === 0);
  for (const { id, pid } of sessions) {
    expect(await home.session(id)).toMatchObject({ status: "lost", exit: null, pid });
    expect((await eventsOf(home, "session.ended", id)).map(({ data }) => data.cause)).toEqual(["lost"]);
  }
  const next = await home.run("echo next", "--name", "next");
  expect(await home.ended(next.id)).toMatchObject({ status: "done", exit: { code: 0, signal: null } });
  expect(serversOf(home)).toEqual([await tmuxPid(home)]);
  expect(await tmuxPid(home)).not.toBe(server);
  expect(await home.ok(["logs", "--raw", sessions[0]?.id ?? ""])).toMatch(/^line 1\r\nline 2\r\n/);
});

test("the next daemon notices that the tmux server was killed while no daemon ran", async () => {
  await using home = new TestHome();
  const { id } = await home.run(COUNTING);
  const server = await tmuxPid(home);
  await home.killDaemon();
  process.kill(server, "SIGKILL");
  await eventually(() => !lives(server));
  expect(await home.session(id)).toMatchObject({ status: "lost", exit: null });
  expect(await home.ended((await home.run("true")).id)).toMatchObject({ status: "done" });
});

test("a program that outlives its tmux server counts as lost, and down --all ends it", async () => {
  await using home = new TestHome();
  const { id, pid } = await home.run("trap '' HUP; while :; do sleep 0.05; done");
  process.kill(await tmuxPid(home), "SIGKILL");
  expect(await home.ended(id)).toMatchObject({ status: "lost" });
  expect(lives(Number(pid))).toBe(true);
  await home.ok(["down", "--all", "--grace", "300ms"]);
  expect(lives(Number(pid))).toBe(false);
});

test("a user's own tmux server with this home in its environment is left alone", async () => {
  await using home = new TestHome();
  // Its environment names this home, but its sessions are the user's.
  using own = new Terminal({ env: home.env });
  const shell = own.shellPid;
  const { id } = await home.run("sleep 1000");
  process.kill(await tmuxPid(home), "SIGKILL");
  expect(await home.ended(id)).toMatchObject({ status: "lost" });
  await home.run("sleep 1000", "--name", "next");
  await home.ok(["down", "--all"]);
  await own.command("echo still here");
  await own.shows(/^still here/m);
  expect(own.shellPid).toBe(shell);
});

async function tmuxPid(home: TestHome): Promise<number> {
  const { tmux } = await home.json<DaemonStatus>(["status"]);
  if (!tmux?.pid) throw new Error("the daemon knows no tmux server");
  return tmux.pid;
}

/** Servers on the home's tmux socket, reachable or not. */
function serversOf(home: TestHome): number[] {
  const socket = path.join(home.socketDirectory, "tmux.sock");
  return home
    .processes()
    .filter(({ pid, name }) => name === "tmux: server" && argumentsOf(pid).includes(socket))
    .map(({ pid }) => pid);
}

async function eventsOf(home: TestHome, type: string, session?: string): Promise<AnyEvent[]> {
  const lines = await home.ok(["events", "--type", type, ...(session ? ["--session", session] : [])]);
  return lines
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AnyEvent);
}

function numbersIn(text: string): number[] {
  return [...text.matchAll(/^line (\d+)\r$/gm)].map(([, number]) => Number(number));
}

test("a run whose tmux server does not respond fails with the reason, and leaves nothing behind once it does (mend 24)", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "before");
  const { pid } = JSON.parse(readFileSync(openHome(home.env).tmuxFile, "utf8")) as { pid: number };
  process.kill(pid, "SIGSTOP");
  try {
    const refused = await home.cli(["run", "--name", "never", "--", "sh", "-c", "touch ran; exec sleep 1000"]);
    expect(refused).toMatchObject({ code: 8, stderr: expect.stringContaining(`the tmux server (pid ${pid}) is stopped`) });
    expect(refused.stderr).toContain(`kill -CONT ${pid}`);
    expect(await home.session("never")).toMatchObject({ status: "failed" });
    expect(await home.session("before")).toMatchObject({ status: "working" });
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await home.ok(["run", "--name", "after", "--", "sleep", "1000"]);
  const panes = () =>
    execFileSync("tmux", ["-S", openHome(home.env).tmuxSocket, "list-panes", "-a"], { encoding: "utf8" })
      .trim()
      .split("\n");
  await expect.poll(() => panes().length).toBe(3);
  expect(existsSync(path.join(home.root, "ran"))).toBe(false);
  expect(await home.session("before")).toMatchObject({ status: "working" });
});
