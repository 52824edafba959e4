/** Exit status and complete output of programs, reported by their keeper with or without a daemon. */
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Exit, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { lives } from "./proc.ts";

test("exit codes are kept, and signals are named", async () => {
  await using home = new TestHome();
  const cases: [script: string, exit: Exit][] = [
    ["exit 0", { code: 0, signal: null }],
    ["exit 1", { code: 1, signal: null }],
    // A shell's exit code after SIGKILL is not a death by signal.
    ["exit 137", { code: 137, signal: null }],
    ["exit 130", { code: 130, signal: null }],
    ["exit 255", { code: 255, signal: null }],
    ["kill -TERM $$", { code: null, signal: "SIGTERM" }],
    ["kill -KILL $$", { code: null, signal: "SIGKILL" }],
    ["kill -SEGV $$", { code: null, signal: "SIGSEGV" }],
    ["kill -INT $$", { code: null, signal: "SIGINT" }],
    ["kill -HUP $$", { code: null, signal: "SIGHUP" }],
    ["kill -USR1 $$", { code: null, signal: "SIGUSR1" }],
    ["exec /dev/null/none", { code: 127, signal: null }],
  ];
  const started = await Promise.all(cases.map(([script]) => home.run(script)));
  const ended = await Promise.all(started.map(({ id }) => home.ended(id)));
  expect(ended.map(({ exit, status }) => ({ exit, status }))).toEqual(
    cases.map(([, exit]) => ({ exit, status: exit.code === 0 ? "done" : "failed" })),
  );
});

test("a program that ends while no daemon runs has its exit, its time and its last output recorded", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  const { id, pid } = await home.run(`echo begun; until [ -e '${go}' ]; do sleep 0.02; done; seq 1 20000; exit 7`);
  const killed = await home.run(`until [ -e '${go}' ]; do sleep 0.02; done; kill -SEGV $$`);
  await home.killDaemon();

  const asked = Date.now();
  writeFileSync(go, "");
  await eventually(() => !lives(Number(pid)) && !lives(Number(killed.pid)));
  // The keeper wrote the exit; every later report has that time.
  await eventually(() => existsSync(path.join(home.path, "sessions", id, "runs/1/exit.json")));
  const noted = Date.now();

  const session = await home.ended(id);
  expect(session).toMatchObject({ status: "failed", exit: { code: 7, signal: null }, pid, runs: 1 });
  expect(Date.parse(session.endedAt ?? "")).toBeGreaterThanOrEqual(asked - 50);
  expect(Date.parse(session.endedAt ?? "")).toBeLessThanOrEqual(noted);
  expect(
    Math.abs((session.durationMs ?? Number.NaN) - (Date.parse(session.endedAt ?? "") - Date.parse(session.startedAt ?? ""))),
  ).toBeLessThan(1000);
  expect(await home.ok(["logs", "--raw", id])).toBe(`begun\r\n${numbers(1, 20_000)}`);
  expect((await home.ended(killed.id)).exit).toEqual({ code: null, signal: "SIGSEGV" });
});

test("fifty short programs at once each have their own exit code and complete output", async () => {
  await using home = new TestHome();
  const indices = Array.from({ length: 50 }, (_, i) => i);
  const script = (i: number) => `seq ${i} ${i + 2000}; printf 'the end of ${i}'; exit ${i}`;
  const started = await Promise.all(indices.map((i) => home.run(script(i), "--name", `short${i}`)));
  const ended = await eventually(async () => {
    const sessions = await home.json<Session[]>(["ls", "--all"]);
    return sessions.every(({ endedAt }) => endedAt !== null) && new Map(sessions.map((session) => [session.id, session]));
  }, 40_000);
  expect(started.map(({ id }) => ended.get(id)?.exit)).toEqual(indices.map((i) => ({ code: i, signal: null })));
  expect(started.map(({ id }) => ended.get(id)?.pid)).toEqual(started.map(({ pid }) => pid));

  const said: string[] = [];
  for (const { id } of started) said.push(await home.ok(["logs", "--raw", id]));
  expect(indices.filter((i) => said[i] !== `${numbers(i, i + 2000)}the end of ${i}`)).toEqual([]);
});

test.each([
  ["tmux", "with a daemon", false],
  ["tmux", "without one", true],
  ["native", "with a daemon", false],
  ["native", "without one", true],
])("a program that prints 5 MB and exits at once is recorded completely, on %s, %s", async (host, _, alone) => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  const burst = (last: number) => `until [ -e '${go}' ]; do sleep 0.02; done; exec seq ${last - 699_999} ${last}`;
  const sessions = await Promise.all([700_000, 1_700_000, 2_700_000].map((last) => home.run(burst(last), "--host", host)));
  if (alone) await home.killDaemon();
  writeFileSync(go, "");
  if (alone) await eventually(() => sessions.every(({ pid }) => !lives(Number(pid))), 40_000);

  for (const [i, { id }] of sessions.entries()) {
    const ended = await eventually(async () => {
      const session = await home.session(id);
      return session.endedAt !== null && session;
    }, 40_000);
    expect(ended).toMatchObject({ status: "done", exit: { code: 0 } });
    const whole = numbers(1_000_000 * i + 1, 1_000_000 * i + 700_000);
    const said = await home.ok(["logs", "--raw", id]);
    expect({ length: said.length, same: said === whole }).toEqual({ length: whole.length, same: true });
  }
});

test("a program without output, and one without a final newline, are recorded unchanged", async () => {
  await using home = new TestHome();
  const silent = await home.run("exit 0");
  const torn = await home.run("printf 'no newline at the end'");
  await home.ended(silent.id);
  await home.ended(torn.id);
  expect(await home.ok(["logs", "--raw", silent.id])).toBe("");
  expect(await home.ok(["logs", "--raw", torn.id])).toBe("no newline at the end");
});

/** The output of `seq` through a pty. */
function numbers(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\r\n`).join("");
}
