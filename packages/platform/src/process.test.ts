import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { allProcesses, argumentsOf, environmentValues, inspect, isSameProcess, signalProcess, withEnvironmentEntry } from "./process.ts";

function start(
  program: string,
  args: string[],
  options: { env?: Record<string, string>; detached?: boolean; argv0?: string } = {},
): ChildProcess & { pid: number } {
  const child = spawn(program, args, { stdio: "ignore", ...options });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child as ChildProcess & { pid: number };
}

test("the current process is found with its parent and start time", () => {
  const me = inspect(process.pid);
  expect(me).toMatchObject({ pid: process.pid, parent: process.ppid, zombie: false });
  expect(isSameProcess(process.pid, me?.start ?? "")).toBe(true);
  expect(isSameProcess(process.pid, "another-start")).toBe(false);
  expect(allProcesses().get(process.pid)?.start).toBe(me?.start);
});

test.each([0, -1, 4_194_305, Number.NaN, 1.5])("process %d does not exist", (pid) => {
  expect(inspect(pid)).toBeUndefined();
  expect(isSameProcess(pid, "")).toBe(false);
  expect(signalProcess(pid, "", "SIGKILL")).toBe(false);
});

test.each(["a b", ") (", "x) S 1 1 1", "((", "))", "\n"])("a program named %j is parsed correctly", async (name) => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const program = join(directory.path, name);
  copyFileSync("/bin/sleep", program);
  const child = start(program, ["60"], { detached: true });
  const info = await vi.waitFor(() => {
    const found = inspect(child.pid);
    expect(found?.name).toBe(name);
    return found;
  });
  expect(info).toMatchObject({ pid: child.pid, parent: process.pid, group: child.pid, session: child.pid, zombie: false });
  expect(allProcesses().get(child.pid)?.name).toBe(name);
});

test("the CPU time and memory of a busy program are measured", async () => {
  const child = start("sh", ["-c", "while :; do :; done"]);
  await vi.waitFor(() => expect(inspect(child.pid)?.cpuMs).toBeGreaterThan(20));
  expect(inspect(child.pid)?.memoryBytes).toBeGreaterThan(100_000);
  expect(inspect(child.pid)?.sleeping).toBe(false);
});

test("a zombie is recognised, counts as gone, and is not signalled", async () => {
  const parent = spawn("sh", ["-c", "sh -c 'echo $$' & exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [said] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(String(said));
  const info = await vi.waitFor(() => {
    const found = inspect(pid);
    expect(found?.zombie).toBe(true);
    return found;
  });
  expect(isSameProcess(pid, info?.start ?? "")).toBe(false);
  expect(signalProcess(pid, info?.start ?? "", "SIGTERM")).toBe(false);
});

test("a signal reaches only the intended process", async () => {
  const child = start("sleep", ["60"]);
  const ended = once(child, "exit");
  expect(signalProcess(child.pid, "another-start", "SIGKILL")).toBe(false);
  expect(signalProcess(child.pid, inspect(child.pid)?.start ?? "", "SIGTERM")).toBe(true);
  expect(await ended).toEqual([null, "SIGTERM"]);
});

test("processes are found by an exact environment entry", async () => {
  const envs: Record<string, string>[] = [
    { MARK: "one" },
    { MARK: "one two" },
    { MARK: "" },
    { XMARK: "one" },
    { OTHER: "MARK=one" },
    { MARK: "漢字\nMARK=one" },
  ];
  const pids = envs.map((env) => start("/bin/sleep", ["60"], { env }).pid);
  await vi.waitFor(() => expect(pids.map((pid) => inspect(pid)?.name)).toEqual(pids.map(() => "sleep")));
  expect([...withEnvironmentEntry("MARK=one", pids)]).toEqual([pids[0]]);
  expect(environmentValues("MARK", pids)).toEqual(
    new Map([
      [pids[0], "one"],
      [pids[1], "one two"],
      [pids[2], ""],
      [pids[5], "漢字\nMARK=one"],
    ]),
  );
  expect(environmentValues("MARK", [4_194_305])).toEqual(new Map());
});

test("a process's arguments are read in order", async () => {
  const child = start("sh", ["-c", "sleep 60; :", "a b", "", "漢字"]);
  await vi.waitFor(() => expect(argumentsOf(child.pid).slice(0, 6)).toEqual(["sh", "-c", "sleep 60; :", "a b", "", "漢字"]));
  expect(argumentsOf(4_194_305)).toEqual([]);
});
