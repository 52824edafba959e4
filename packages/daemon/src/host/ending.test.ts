import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { allProcesses, inspect, isSameProcess, type ProcessInfo, signalProcess, withEnvironmentEntry } from "@holdfast/platform";
import { expect, onTestFinished, test, vi } from "vitest";
import { endProcesses } from "./ending.ts";

// These tests use real programs, on machines that may be busy.
vi.setConfig({ testTimeout: 20_000 });

let counter = 0;

/** A run of this script as a host starts it: its own process session and a marker in its environment. */
class TestRun {
  readonly marker = `endtestrun-${process.pid}${++counter}`;
  readonly child: ChildProcess;
  readonly root: ProcessInfo;
  readonly closed: Promise<unknown[]>;

  constructor(script: string, program = ["/bin/sh", "-c", script]) {
    const env = { PATH: process.env.PATH ?? "", HOLDFAST_RUN: this.marker, TAG: this.marker };
    this.child = spawn(program[0] ?? "", program.slice(1), { detached: true, env, stdio: ["ignore", "pipe", "inherit"] });
    this.closed = once(this.child, "close");
    const root = inspect(this.child.pid ?? 0);
    if (!root) throw new Error("the run did not start");
    this.root = root;
    onTestFinished(() => {
      for (const { pid, start } of this.everybody()) signalProcess(pid, start, "SIGKILL");
      this.child.stdout?.destroy();
    });
  }

  /** The live processes with this run's tag, which the product does not know. */
  everybody(): ProcessInfo[] {
    const table = allProcesses();
    const tagged = withEnvironmentEntry(`TAG=${this.marker}`, table.keys());
    return [...table.values()].filter(({ pid, zombie }) => tagged.has(pid) && !zombie);
  }

  /** Waits until `count` processes of this name run. */
  async has(count: number, name: string): Promise<ProcessInfo[]> {
    return vi.waitFor(
      () => {
        const found = this.everybody().filter((info) => info.name === name);
        expect(found).toHaveLength(count);
        return found;
      },
      { timeout: 4000, interval: 10 },
    );
  }

  end(options: { graceMs?: number; keepers?: number[] } = {}) {
    return endProcesses({ root: this.root, marker: this.marker, keepers: options.keepers ?? [], graceMs: options.graceMs ?? 3000 });
  }
}

const TAGGED_ONLY = 'env -i PATH="$PATH" TAG="$TAG"';

test.each([
  ["children and grandchildren", "sleep 60 & sh -c 'sleep 60 & wait' & wait", 2],
  ["a child in a process session of its own", "setsid sleep 60 & wait", 1],
  ["a daemon that double-forked and was adopted by init", "(setsid sh -c 'sleep 60 & exit' &) ; sleep 60", 2],
  ["a child without the marker that was adopted by init", `(${TAGGED_ONLY} sleep 60 &) ; sleep 60`, 2],
  ["a child without the marker in a session of its own", `${TAGGED_ONLY} setsid sh -c 'sleep 60; :' & wait`, 1],
  ["a stopped child", "sleep 60 & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; wait", 1],
])("ending a run also ends %s", async (_, script, count) => {
  const run = new TestRun(script);
  await run.has(count, "sleep");
  const { ended, left } = await run.end();
  expect(left).toEqual([]);
  expect(run.everybody()).toEqual([]);
  expect(ended.filter(({ name }) => name === "sleep")).toHaveLength(count);
  expect(ended.every(({ signal }) => signal === "SIGTERM")).toBe(true);
});

test("ending a run whose program is gone ends its remaining processes", async () => {
  const run = new TestRun("setsid sleep 60 & sleep 60 & exit");
  await vi.waitFor(() => expect(run.child.exitCode).toBe(0));
  await run.has(2, "sleep");
  expect((await run.end()).left).toEqual([]);
  expect(run.everybody()).toEqual([]);
});

test("a program that ignores SIGTERM gets its grace period, then SIGKILL", async () => {
  const run = new TestRun("trap '' TERM HUP; sleep 60 & while :; do wait; done");
  await run.has(1, "sleep");
  const began = performance.now();
  const { ended, left } = await run.end({ graceMs: 300 });
  expect(performance.now() - began).toBeGreaterThanOrEqual(300);
  expect(left).toEqual([]);
  expect(ended.find(({ pid }) => pid === run.root.pid)?.signal).toBe("SIGKILL");
  expect(await run.closed).toEqual([null, "SIGKILL"]);
});

test("a program may clean up on SIGTERM and is waited for only as long as it needs", async () => {
  const run = new TestRun("trap 'echo cleaned; exit 3' TERM; echo ready; sleep 60 & wait");
  const said: string[] = [];
  run.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => said.push(chunk));
  await run.has(1, "sleep");
  await vi.waitFor(() => expect(said.join("")).toBe("ready\n"));
  const began = performance.now();
  await run.end({ graceMs: 30_000 });
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(await run.closed).toEqual([3, null]);
  expect(said.join("")).toBe("ready\ncleaned\n");
});

test("a program that overwrote its title and environment is found", async () => {
  const run = new TestRun("", ["perl", "-e", '$| = 1; $0 = "x" x 5000; print "ready\\n"; sleep 60']);
  await once(run.child.stdout ?? run.child, "data");
  expect(withEnvironmentEntry(`HOLDFAST_RUN=${run.marker}`, [run.root.pid]).size).toBe(0);
  await run.end();
  expect(isSameProcess(run.root.pid, run.root.start)).toBe(false);
});

test("a program that forks without end does not escape", async () => {
  const run = new TestRun("trap '' TERM HUP; while :; do sleep 60 & done");
  await vi.waitFor(() => expect(run.everybody().length).toBeGreaterThan(50), { timeout: 4000 });
  expect((await run.end({ graceMs: 100 })).left).toEqual([]);
  expect(run.everybody()).toEqual([]);
});

test("a keeper and its children survive, even below a program of the run", async () => {
  const run = new TestRun(`${TAGGED_ONLY} setsid sh -c 'sleep 61 & wait' & sleep 60`);
  const [one, two] = await run.has(2, "sleep");
  const kept = one?.parent === run.root.pid ? two : one;
  const keeper = inspect(kept?.parent ?? 0);
  await run.end({ keepers: [keeper?.pid ?? 0] });
  expect(run.everybody().map(({ pid }) => pid)).toEqual([keeper?.pid, kept?.pid]);
});

test("the process that ends a run survives, even if it was started inside the run", async () => {
  const daemon = `
    import { endProcesses } from ${JSON.stringify(join(import.meta.dirname, "ending.ts"))};
    import { spawn } from "node:child_process";
    const own = spawn("sleep", ["60"], { detached: true, stdio: "ignore", env: { PATH: process.env.PATH, TAG: process.env.TAG } });
    const { ended } = await endProcesses({ root: { pid: process.ppid, start: process.env.START }, marker: process.env.HOLDFAST_RUN, keepers: [], graceMs: 2000 });
    console.log(JSON.stringify({ ended: ended.map(({ pid }) => pid), me: process.pid, parent: process.env.ROOT, own: own.pid, ownLives: own.exitCode === null }));
    own.kill();
  `;
  const start = "START=$(cut -d ' ' -f 22 /proc/$$/stat)";
  const run = new TestRun("", [
    "/bin/sh",
    "-c",
    `BOOT=$(cut -c 1-8 /proc/sys/kernel/random/boot_id); ${start}; export START="$BOOT-$START" ROOT=$$; "$0" --input-type=module -e "$1" & wait; wait`,
    process.execPath,
    daemon,
  ]);
  const [said] = (await once(run.child.stdout ?? run.child, "data")) as [Buffer];
  const report = JSON.parse(String(said)) as { ended: number[]; me: number; own: number; ownLives: boolean };
  expect(report.ended).toEqual([run.root.pid]);
  expect(report.ended).not.toContain(report.me);
  expect(report.ownLives).toBe(true);
});

test("a zombie counts as gone and is not waited for", async () => {
  // The outer sleep never reaps its child.
  const outside = new TestRun("sh -c 'echo $$; exit 0' & exec sleep 60");
  const [said] = (await once(outside.child.stdout ?? outside.child, "data")) as [Buffer];
  const zombie = await vi.waitFor(() => {
    const info = inspect(Number(String(said)));
    expect(info?.zombie).toBe(true);
    return info;
  });
  const began = performance.now();
  const outcome = await endProcesses({
    root: { pid: zombie?.pid ?? 0, start: zombie?.start ?? "" },
    marker: "nobody-1",
    keepers: [],
    graceMs: 30_000,
  });
  expect(outcome).toEqual({ ended: [], left: [] });
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(isSameProcess(outside.root.pid, outside.root.start)).toBe(true);
});

test("a pid that now belongs to another process is left alone", async () => {
  const bystander = new TestRun("exec sleep 60");
  await bystander.has(1, "sleep");
  const outcome = await endProcesses({
    root: { pid: bystander.root.pid, start: "another-1" },
    marker: "nobody-1",
    keepers: [],
    graceMs: 0,
  });
  expect(outcome).toEqual({ ended: [], left: [] });
  expect(isSameProcess(bystander.root.pid, bystander.root.start)).toBe(true);
});
