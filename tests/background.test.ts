/** A background shell from its start to its record, and the statuses of every session. */
import { existsSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { DaemonStatus, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { attachTerminal } from "./attached.ts";
import { eventually, TestHome } from "./home.ts";
import { lives } from "./proc.ts";
import { recorded } from "./recorded.ts";

test("a background shell starts detached and returns at once, while its program still runs (BG-01 spine)", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  const printed = await home.ok(["run", "--name", "build", "--", "sh", "-c", `until [ -e '${go}' ]; do sleep 0.02; done; echo over`]);
  const session = await home.session("build");
  expect(printed).toBe(`${session.id}\n`);
  expect(session).toMatchObject({ status: "working", endedAt: null, exit: null });
  expect(lives(Number(session.pid))).toBe(true);

  writeFileSync(go, "");
  expect(await home.ended("build")).toMatchObject({ status: "done", exit: { code: 0, signal: null } });
  expect(await home.ok(["logs", "build"])).toBe("over\n");
});

test("a background shell streams its output to disk and records exit code, duration, pid and output path (BG-01 spine)", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  const before = Date.now();
  const started = await home.run(`echo $$; until [ -e '${go}' ]; do sleep 0.02; done; printf 'last words'; exit 3`);
  const { id, pid, outputPath } = started;
  // The output is on disk while the program runs, and contains the recorded pid.
  await eventually(() => recorded(started) === `${pid}\r\n`);
  expect(statSync(outputPath ?? "").mode & 0o777).toBe(0o600);
  const running = await home.session(id);
  expect(running.durationMs).toBeGreaterThan(0);
  expect(Date.parse(running.lastActivityAt ?? "")).toBeGreaterThanOrEqual(before - 1000);

  const asked = Date.now();
  writeFileSync(go, "");
  const session = await home.ended(id);
  expect(recorded(started)).toBe(`${pid}\r\nlast words`);
  expect(session).toMatchObject({ status: "failed", exit: { code: 3, signal: null }, pid, outputPath });
  const [begin, end] = [Date.parse(session.startedAt ?? ""), Date.parse(session.endedAt ?? "")];
  // The duration uses the monotonic clock.
  expect(Math.abs((session.durationMs ?? Number.NaN) - (end - begin))).toBeLessThan(1000);
  expect(begin).toBeGreaterThanOrEqual(before - 5);
  expect(end).toBeGreaterThanOrEqual(asked - 5);
  expect(end).toBeLessThanOrEqual(Date.now());

  await home.killDaemon();
  expect(await home.session(id)).toEqual(session);
});

test("shell sessions are working, done, failed, stopped or lost (BG-03 spine)", async () => {
  await using home = new TestHome();
  const working = await home.run("sleep 1000", "--name", "lasting");
  expect(working.status).toBe("working");
  expect((await home.ended((await home.run("exit 0")).id)).status).toBe("done");
  expect((await home.ended((await home.run("exit 1")).id)).status).toBe("failed");
  expect((await home.ended((await home.run("kill -9 $$")).id)).status).toBe("failed");
  const { id } = await home.run("sleep 1000");
  await home.ok(["stop", id]);
  expect(await home.session(id)).toMatchObject({ status: "stopped", exit: { code: null, signal: "SIGTERM" } });
  // Also if the program exits with code 0 on SIGTERM.
  const polite = await home.run("trap 'exit 0' TERM; echo ready; while :; do sleep 0.02; done");
  await home.ok(["wait", polite.id, "--for", "output=ready"]);
  await home.ok(["stop", polite.id]);
  expect(await home.session(polite.id)).toMatchObject({ status: "stopped", exit: { code: 0, signal: null } });

  await killKeeper(home);
  expect(await home.ended("lasting")).toMatchObject({ status: "lost", exit: null, pid: working.pid });
  const words = (await home.json<Session[]>(["ls", "--all"])).map(({ status }) => status);
  expect(words).toEqual(["lost", "done", "failed", "failed", "stopped", "stopped"]);
});

test("a terminal agent uses the same statuses, and is unknown without evidence (BG-03 spine)", async () => {
  await using home = new TestHome();
  const spawn = (name: string) => home.json<Session>(["spawn", "demo", "--name", name]);
  const leave = async (name: string, words: string): Promise<Session> => {
    expect((await spawn(name)).status).toBe("unknown");
    using terminal = await attachTerminal(home, { ref: name });
    await terminal.shows(/^>$/m);
    terminal.line(words);
    return home.ended(name);
  };
  expect(await leave("content", "/exit")).toMatchObject({ kind: "terminal", status: "done", exit: { code: 0, signal: null } });
  expect(await leave("unhappy", "/exit 3")).toMatchObject({ status: "failed", exit: { code: 3, signal: null } });
  await spawn("asked");
  await home.ok(["stop", "asked"]);
  expect((await home.session("asked")).status).toBe("stopped");
  expect((await spawn("vanished")).status).toBe("unknown");
  await killKeeper(home);
  expect(await home.ended("vanished")).toMatchObject({ status: "lost", exit: null });
});

test("a session's files are deleted only by rm", async () => {
  await using home = new TestHome();
  const session = await home.run("echo kept");
  await home.ended(session.id);
  await home.ok(["down"]);
  expect(recorded(session)).toBe("kept\r\n");
  await home.ok(["rm", session.id]);
  expect(existsSync(session.outputPath ?? "")).toBe(false);
});

/** Kills the tmux server with SIGKILL, so exit statuses are lost. */
async function killKeeper(home: TestHome): Promise<void> {
  const { tmux } = await home.json<DaemonStatus>(["status"]);
  if (!tmux?.pid) throw new Error("no tmux server runs");
  process.kill(tmux.pid, "SIGKILL");
}
