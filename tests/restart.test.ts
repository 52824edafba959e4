import { writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, Session } from "@holdfast/contract";
import { allProcesses, argumentsOf } from "@holdfast/platform";
import { describe, expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { lives } from "./proc.ts";
import { configure } from "./scripted-agent.ts";

async function typesOf(home: TestHome, name: string): Promise<string[]> {
  const lines = (await home.ok(["events", "--session", name])).trim().split("\n");
  return lines
    .map((line) => JSON.parse(line) as AnyEvent)
    .map(({ type, data }) => `${type.replace("session.", "")} ${data.run ?? ""}`.trim());
}

function start(home: TestHome, policy: string, script: string): Promise<Session> {
  return home.json<Session>(["run", "--restart", policy, "--name", "it", "--", "sh", "-c", script]);
}

describe.each(["tmux", "native"])("on the %s host", (host) => {
  test("after a failure the session gets another run, with the history of the first (SYM-13 hosts)", async () => {
    await using home = new TestHome();
    const script = "echo run; [ -e again ] && exec sleep 60; touch again; exit 3";
    const first = await home.json<Session>(["run", "--host", host, "--restart", "on-failure", "--name", "it", "--", "sh", "-c", script]);
    const second = await home.until("it", ({ runs, status }) => runs === 2 && status === "working");
    expect(second).toMatchObject({ id: first.id, host, restart: "on-failure", restartAt: null, exit: null });
    expect(second.pid).not.toBe(first.pid);
    expect(await home.ok(["logs", "it", "--run", "1"])).toBe("run\n");
    expect(await home.ok(["logs", "it"])).toBe("run\n");
    expect(await typesOf(home, "it")).toEqual(["created", "started 1", "ended 1", "restart_scheduled 2", "run_created 2", "started 2"]);
  });
});

describe("a daemon killed while it starts the next run", () => {
  test.each(["tmux", "native"])("is replaced by one that starts it, on the %s host (BG-16 durability)", async (host) => {
    await using home = new TestHome();
    const script = "[ -e again ] && exit 0; touch again; exit 3";
    const { id } = await home.json<Session>(["run", "--host", host, "--restart", "on-failure", "--name", "it", "--", "sh", "-c", script]);
    const { pid, tmux } = await home.json<{ pid: number; tmux: { pid: number } }>(["status"]);
    // The keeper is stopped before it can start the run, and is killed with the daemon.
    const keeper = host === "tmux" ? tmux.pid : await eventually(() => holderOf(`${id}/runs/2`), 20_000, 1);
    if (host === "tmux") {
      // Without commands, each of which takes a large part of the available second.
      using client = home.client();
      const now = () => client.call("getSession", { params: { ref: "it" } });
      await eventually(async () => (await now()).restartAt !== null, 20_000, 1);
      process.kill(keeper, "SIGSTOP");
      await eventually(async () => (await now()).runs === 2);
      process.kill(pid, "SIGKILL");
      process.kill(keeper, "SIGKILL");
    } else {
      process.kill(keeper, "SIGSTOP");
      process.kill(pid, "SIGKILL");
      process.kill(keeper, "SIGCONT");
      await eventually(() => !lives(keeper));
    }
    await eventually(() => !lives(pid));

    const ended = await home.until("it", ({ status }) => status === "done");
    expect(ended).toMatchObject({ runs: 2, cause: "exited", exit: { code: 0 } });
    expect(ended.durationMs).toBeLessThan(10_000);
    expect((await typesOf(home, "it")).slice(3)).toEqual(["restart_scheduled 2", "run_created 2", "started 2", "ended 2"]);
    expect(await home.ok(["orphans"])).toContain("No orphans");
  });
});

/** A holder exists some time before its program. */
function holderOf(directory: string): number | undefined {
  const holders = [...allProcesses().values()].filter(({ pid }) => argumentsOf(pid).some((word) => word.endsWith(directory)));
  return holders.find(({ zombie }) => !zombie)?.pid;
}

/** A command's output as it arrives. */
function printed(home: TestHome, ...args: string[]): { text: string; ended: Promise<string> } {
  const child = home.start(args);
  const all = { text: "", ended: new Promise<string>((resolve) => child.on("close", () => resolve(all.text))) };
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    all.text += chunk;
  });
  return all;
}

test("wait and logs -f stay with a session across restarts, and ls and show announce the next run", async () => {
  await using home = new TestHome();
  const script = "echo hello; while ! [ -e begin ]; do sleep 0.02; done; [ -e go ] && echo done && exit 0; exit 3";
  await home.json(["run", "--restart", "on-failure", "--name", "it", "--", "sh", "-c", script]);
  const waits = home.cli(["wait", "it", "--timeout", "2m"]);
  const finds = home.cli(["wait", "it", "--for", "output=done", "--timeout", "2m"]);
  const [follows, one] = [printed(home, "logs", "-f", "it"), printed(home, "logs", "-f", "--run", "1", "it")];
  await eventually(() => [follows, one].every(({ text }) => text.includes("hello")));
  writeFileSync(path.join(home.root, "begin"), "");
  // A run ends at once, and each pause is longer than the last: 4 s after this one.
  await home.until("it", ({ runs, restartAt }) => runs === 3 && restartAt !== null);
  const told = async (what: RegExp, ...args: string[]) => {
    await eventually(async () => what.test(Object.values(await home.cli(args)).join()));
  };
  await told(/it +failed \(3\), next run in \d+s/, "ls");
  await told(/next run +in \d+s; cancel: holdfast stop it/, "show", "it");
  await told(/it has ended, but its next run starts soon\n.*cancel it first: holdfast stop it/, "rm", "it");
  writeFileSync(path.join(home.root, "go"), "");
  expect(await waits).toMatchObject({
    code: 0,
    stdout: "it has ended: done\n",
    stderr: expect.stringMatching(/run \d of it has ended \(failed\); run \d starts/),
  });
  expect(await finds).toMatchObject({ code: 0, stdout: "done\n" });
  const stdout = await follows.ended;
  const { runs } = await home.session("it");
  expect(stdout.split("\n").filter((line) => !line.startsWith("…"))).toEqual([...Array<string>(runs).fill("hello"), "done", ""]);
  expect(stdout.split("\n").filter((line) => line.startsWith("…"))).toHaveLength(runs - 1);
  expect(await one.ended).toBe("hello\n");
});

test("never does not restart, on-failure keeps a successful end, always restarts after it (SYM-13 hosts)", async () => {
  await using home = new TestHome();
  await home.json(["run", "--name", "never", "--", "sh", "-c", "exit 1"]);
  await home.json(["run", "--restart", "on-failure", "--name", "good", "--", "true"]);
  await home.json(["run", "--restart", "always", "--name", "always", "--", "true"]);
  await home.until("always", ({ runs }) => runs > 1);
  for (const name of ["never", "good"]) await home.ended(name);
  expect(await home.session("never")).toMatchObject({ runs: 1, status: "failed", restartAt: null });
  expect(await home.session("good")).toMatchObject({ runs: 1, status: "done", restartAt: null });
});

test("the pause doubles, and after five quick exits there is no further run (SYM-13 hosts)", async () => {
  await using home = new TestHome();
  await start(home, "always", "exit 1");
  const given = await eventually(async () => {
    const lines = (await home.ok(["events", "--session", "it"])).trim().split("\n");
    const events = lines.map((line) => JSON.parse(line) as AnyEvent);
    return events.some(({ type }) => type === "session.restart_abandoned") && events;
  }, 40_000);
  const pauses = given
    .filter(({ type }) => type === "session.restart_scheduled")
    .map(({ at, data }) => Date.parse(String(data.at)) - Date.parse(at));
  expect(pauses.map((ms) => Math.round(ms / 1000))).toEqual([1, 2, 4, 8]);
  expect(given.at(-1)).toMatchObject({ type: "session.restart_abandoned", data: { why: "crash_loop", quickEnds: 5 } });
  expect(await home.session("it")).toMatchObject({ runs: 5, status: "failed", restartAt: null, restartGivenUp: "crash_loop" });
  expect(await home.ok(["ls", "--all"])).toMatch(/it +failed \(1\), given up/);
  expect(await home.ok(["show", "it"])).toMatch(/restart +always; gave up: it ended too often too quickly/);
});

test("a wait for an agent's status ends when its next run is cancelled", async () => {
  await using home = new TestHome();
  configure(home, '[agents.quick]\ncommand = ["false"]\n[[agents.quick.screen]]\nline = "^ready"\nturn = "idle"\n');
  await home.ok(["spawn", "quick", "--name", "it", "--restart", "always"]);
  await home.until("it", ({ runs, restartAt }) => runs === 3 && restartAt !== null);
  const waiting = home.cli(["wait", "it", "--for", "idle", "--timeout", "1h"]);
  // The wait follows the session by then.
  for (let asked = 0; asked < 3; asked++) await home.session("it");
  await home.ok(["stop", "it"]);
  expect(await waiting).toMatchObject({ code: 6, stderr: expect.stringContaining("before that") });
});

test("a due restart survives kill -9 of the daemon, is listed, and is cancelled by stop (SYM-13 hosts)", async () => {
  await using home = new TestHome();
  await start(home, "always", "exit 1");
  await home.until("it", ({ runs, restartAt }) => runs === 2 && restartAt !== null);
  await home.killDaemon();
  await home.until("it", ({ runs }) => runs === 3);
  const due = await home.until("it", ({ restartAt }) => restartAt !== null);
  expect(await home.json<Session[]>(["ls"])).toMatchObject([{ id: due.id }]);
  expect((await home.cli(["rm", "it"])).code).toBe(6);
  await home.ok(["stop", "it"]);
  expect(await home.session("it")).toMatchObject({ restartAt: null, endedAt: expect.any(String) });
  await home.ok(["rm", "it"]);
});

test("a stopped session stays stopped (SYM-13 hosts)", async () => {
  await using home = new TestHome();
  await start(home, "always", "exec sleep 60");
  await home.ok(["stop", "it"]);
  expect(await home.session("it")).toMatchObject({ status: "stopped", runs: 1, restartAt: null });
});
