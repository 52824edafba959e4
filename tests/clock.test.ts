import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, NewToken, PruneReply, Session } from "@holdfast/contract";
import { afterAll, describe, expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { clearSharedMemory, SettableClock } from "./set-clock.ts";

afterAll(clearSharedMemory);

const DAY = 86_400_000;

async function events(home: TestHome, ...args: string[]): Promise<AnyEvent[]> {
  const lines = (await home.ok(["events", ...args])).split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as AnyEvent);
}

/** Runs until the file exists, and prints something now and then. */
function until(file: string): string {
  return `while ! [ -e ${file} ]; do echo on; sleep 0.05; done`;
}

describe.each(["-1d", "+1d"])("wall clock set by %s while sessions run", (shift) => {
  const step = shift === "-1d" ? -DAY : DAY;

  test.each(["tmux", "native"])("order, ages and durations stay correct on the %s host", async (host) => {
    await using home = new TestHome();
    const clock = new SettableClock(home);
    const go = path.join(home.root, "go");
    await clock.startDaemon();
    const began = performance.now();
    await home.run(until(go), "--host", host, "--name", "before");
    clock.set(shift);
    await home.run("exec sleep 1000", "--host", host, "--name", "after");
    const [before, after] = await home.json<Session[]>(["ls"], { env: clock.env });
    expect([before?.name, after?.name]).toEqual(["before", "after"]);
    expect(Date.parse(after?.createdAt ?? "") - Date.parse(before?.createdAt ?? "")).toBeCloseTo(step, -5);
    for (const session of [before, after]) {
      expect(session?.durationMs).toBeGreaterThanOrEqual(0);
      expect(session?.durationMs).toBeLessThan(performance.now() - began + 1000);
    }
    expect(before?.idleMs).toBeLessThan(10_000);
    const [, ...rows] = (await home.ok(["ls"], { env: clock.env })).trim().split("\n");
    for (const row of rows) expect(row).toMatch(/^\w+ +working +shell +\d+s +(\d+s ago|–) /);

    writeFileSync(go, "");
    const ended = await home.ended("before");
    const took = performance.now() - began;
    expect(ended.durationMs).toBeLessThanOrEqual(took + 100);
    expect(ended.durationMs).toBeGreaterThan(0);
    const all = await events(home);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    const jump = all.findIndex(({ at }, index) => index > 0 && Math.abs(Date.parse(at) - Date.parse(all[index - 1]?.at ?? "")) > DAY / 2);
    expect(jump).toBeGreaterThan(0);
  });

  test("a pause before a restart is neither skipped nor a day long, even across a daemon kill", async () => {
    await using home = new TestHome();
    const clock = new SettableClock(home);
    await clock.startDaemon();
    await home.ok(["run", "--restart", "always", "--name", "it", "--", "sh", "-c", "exit 1"]);
    // The pauses are 1, 2 and 4 seconds; during the third the clock is set and the daemon is killed.
    await home.until("it", ({ runs, restartAt }) => runs === 3 && restartAt !== null);
    const began = performance.now();
    clock.set(shift);
    await home.killDaemon();
    await clock.startDaemon();
    const { restartAt, runs } = await home.json<Session>(["show", "it"], { env: clock.env });
    // On a busy machine the pause may be over by now; its length is checked below.
    const left = restartAt === null || runs > 3 ? 0 : Date.parse(restartAt) - (Date.now() + step);
    expect(left).toBeLessThan(5000);
    expect(left).toBeGreaterThan(-2000);
    const next = await eventually(async () => (await events(home, "--type", "session.ended")).find(({ data }) => data.run === 4));
    expect(performance.now() - began).toBeGreaterThan(2000);
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(next.data).toMatchObject({ cause: "exited", durationMs: expect.any(Number) });
    expect(next.data.durationMs).toBeLessThan(10_000);
  });

  test("quick exits count as quick: a clock jump during a run changes no duration", async () => {
    await using home = new TestHome();
    const clock = new SettableClock(home);
    const go = path.join(home.root, "go");
    await clock.startDaemon();
    await home.ok(["run", "--restart", "on-failure", "--name", "it", "--", "sh", "-c", `${until(go)}; exit 1`]);
    clock.set(shift);
    writeFileSync(go, "");
    const scheduled = await eventually(async () => (await events(home, "--type", "session.restart_scheduled"))[0]);
    expect(scheduled.data).toMatchObject({ quickEnds: 1 });
  });

  test("--since uses real time, and the times of a recording never go back", async () => {
    await using home = new TestHome();
    const clock = new SettableClock(home);
    const go = path.join(home.root, "go");
    await clock.startDaemon();
    const started = performance.now();
    await home.run(`echo old; while ! [ -e ${go} ]; do sleep 0.02; done; echo new; exec sleep 1000`, "--name", "one");
    const since = (time: string) => home.ok(["logs", "one", "--since", time], { env: clock.env });
    await eventually(async () => (await since("3s")) === "" && (await since("10m")) === "old\n");
    clock.set(shift);
    writeFileSync(go, "");
    const began = performance.now();
    await eventually(async () => (await home.ok(["logs", "one"])) === "old\nnew\n");
    // A very slow start may find nothing, so ask again.
    expect(await eventually(async () => (await since(`${performance.now() - began + 2000}ms`)) || undefined)).toBe("new\n");
    expect(await since("10m")).toBe("old\nnew\n");
    // The recording contains no pause of a day.
    const steps = (await home.ok(["replay", "one", "--json"])).trim().split("\n");
    const times = steps.map((line) => (JSON.parse(line) as { at: number }).at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThan(1000);
    expect(times.at(-1)).toBeLessThan(performance.now() - started + 1000);
  });

  test("a run that ended while no daemon ran has the duration measured by its keeper", async () => {
    await using home = new TestHome();
    const clock = new SettableClock(home);
    const go = path.join(home.root, "go");
    await clock.startDaemon();
    const began = performance.now();
    const session = await home.run(until(go), "--name", "one");
    await home.killDaemon();
    writeFileSync(go, "");
    await eventually(() => !home.processes().some(({ pid }) => pid === session.pid));
    const took = performance.now() - began;
    clock.set(shift);
    await clock.startDaemon();
    const ended = await home.ended("one");
    expect(ended.durationMs).toBeGreaterThan(0);
    expect(ended.durationMs).toBeLessThanOrEqual(took + 500);
  });
});

test("a clock set a year ahead for a moment removes nothing", async () => {
  await using home = new TestHome();
  const clock = new SettableClock(home);
  const directory = path.join(home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, "config.toml"), '[prune]\nage = "30d"\nevery = "1s"\n');
  await clock.startDaemon();
  await home.run("exit 0", "--name", "one");
  await home.ended("one");
  await home.lookAt("one");
  using client = home.client();
  clock.set("+1y");
  // A manual dry run lists what is due. The daemon's own pruning waits for a second check, which finds the clock restored.
  expect(await client.call("prune", { body: { dryRun: true } })).toMatchObject({ removed: [{ name: "one", why: "age" }] } satisfies {
    removed: Partial<PruneReply["removed"][number]>[];
  });
  clock.set("+0");
  await home.run("sleep 2.5", "--name", "two");
  await home.ended("two");
  expect((await home.session("one")).status).toBe("done");
});

test("wait --timeout waits its full time, whatever happens to the clock", async () => {
  await using home = new TestHome();
  const clock = new SettableClock(home);
  await clock.startDaemon();
  await home.run("exec sleep 1000", "--name", "one");
  const began = performance.now();
  const waited = home.cli(["wait", "one", "--timeout", "3s"], { env: clock.env });
  clock.set("+1d");
  expect((await waited).code).toBe(16);
  expect(performance.now() - began).toBeGreaterThan(2900);
  expect(performance.now() - began).toBeLessThan(60_000);
});

test("an expired token stays expired when the clock is set back, with the same daemon and the next (mend 8)", async () => {
  await using home = new TestHome();
  const clock = new SettableClock(home);
  await clock.startDaemon();
  const make = async (name: string) =>
    (await home.json<NewToken>(["token", "create", "--scope", "observer", "--name", name, "--expires", "1h"])).token;
  const [used, unused] = [await make("used"), await make("unused")];
  const codeOf = async (token: string) => (await home.cli(["ls"], { env: { HOLDFAST_TOKEN: token } })).code;
  expect([await codeOf(used), await codeOf(unused)]).toEqual([0, 0]);
  clock.set("+2h");
  expect(await codeOf(used)).toBe(22);
  clock.set("-2h");
  expect([await codeOf(used), await codeOf(unused)]).toEqual([22, 22]);
  await home.killDaemon();
  await clock.startDaemon();
  expect([await codeOf(used), await codeOf(unused)]).toEqual([22, 22]);
});
