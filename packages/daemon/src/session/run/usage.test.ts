import { type ChildProcess, spawn } from "node:child_process";
import type { SessionId } from "@holdfast/contract";
import { inspect } from "@holdfast/platform";
import { expect, onTestFinished, test, vi } from "vitest";
import type { SessionRecord } from "../../projection/session-queries.ts";
import { RecentUsage, usageOf } from "./usage.ts";

function started(script: string): ChildProcess & { pid: number } {
  const child = spawn("/bin/sh", ["-c", script], { stdio: "ignore", detached: true });
  onTestFinished(() => void process.kill(-(child.pid ?? 0), "SIGKILL"));
  return child as ChildProcess & { pid: number };
}

function recordOf(id: string, pid: number, status = "working"): SessionRecord {
  const pidStart = inspect(pid)?.start ?? null;
  return { id: id as SessionId, run: 1, host: "native", status, pid, pidStart } as SessionRecord;
}

test("a new session causes a new look, however recent the last one; repeated calls reuse it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const keepers = vi.fn(() => []);
  const recent = new RecentUsage();
  const one = recordOf("aaaaaaaaaa", started("sleep 1000").pid);
  expect(recent.of([one], keepers).get(one.id)?.processes).toBeGreaterThan(0);
  expect(recent.of([one], keepers).get(one.id)).toEqual(recent.of([one], keepers).get(one.id));
  expect(keepers).toHaveBeenCalledTimes(1);
  const two = recordOf("bbbbbbbbbb", started("sleep 1000").pid);
  expect(recent.of([one, two], keepers).get(two.id)?.processes).toBeGreaterThan(0);
  expect(keepers).toHaveBeenCalledTimes(2);
});

test("new processes are counted soon", async () => {
  const one = recordOf("aaaaaaaaaa", started("sleep 0.2; sleep 1000 & sleep 1000 & sleep 1000").pid);
  const recent = new RecentUsage();
  recent.of([one], () => []);
  const counted = () => recent.of([one], () => []).get(one.id)?.processes;
  await vi.waitFor(() => expect(counted()).toBe(4), { timeout: 10_000, interval: 20 });
});

test("ended sessions cause no look", () => {
  const keepers = vi.fn(() => []);
  const ended = recordOf("aaaaaaaaaa", process.pid, "done");
  expect(new RecentUsage().of([ended], keepers).size).toBe(0);
  expect(usageOf([ended], []).size).toBe(0);
  expect(keepers).not.toHaveBeenCalled();
});
