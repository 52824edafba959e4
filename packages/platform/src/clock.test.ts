import { expect, test, vi } from "vitest";
import { bootStamp, clockSteps, msSince, stampMs } from "./clock.ts";
import { inspect, startStamp } from "./process.ts";

const DAY = 86_400_000;

test("a monotonic stamp gives the time since or until it, and a stamp of another boot gives none", () => {
  expect(Math.abs(msSince(bootStamp()) ?? Number.NaN)).toBeLessThan(1000);
  expect(Math.abs((msSince(bootStamp(60_000)) ?? Number.NaN) + 60_000)).toBeLessThan(1000);
  for (const stamp of ["00000000-5", "", "x", null, undefined]) expect(msSince(stamp)).toBeUndefined();
  expect(stampMs("00000000-5")).toBe(5);
});

test("a process's start time uses the same clock", () => {
  const since = msSince(startStamp(inspect(process.pid)?.start ?? null)) ?? Number.NaN;
  expect(Math.abs(since - process.uptime() * 1000)).toBeLessThan(1000);
  expect(startStamp(null)).toBeUndefined();
  expect(startStamp("Sun Nov 15 08:00:00 2026")).toBeUndefined();
});

test("a clock change is noticed in both directions, also when it is reverted", () => {
  expect(clockSteps()).toBe(0);
  const real = Date.now;
  const clock = vi.spyOn(Date, "now");
  for (const step of [DAY, -DAY, 5000]) {
    clock.mockImplementation(() => real() + step);
    expect(Math.abs(clockSteps() - step)).toBeLessThan(1000);
  }
  clock.mockImplementation(() => real() + 5300);
  expect(Math.abs(clockSteps() - 5000)).toBeLessThan(300);
  clock.mockRestore();
  expect(clockSteps()).toBe(0);
});

test("sleep does not count as a clock change", () => {
  const [time, steady] = [Date.now, performance.now];
  // As after a suspend: the time of day and the clock since boot agree, and the process's own clock stopped.
  const still = vi.spyOn(performance, "now").mockImplementation(() => steady.call(performance) - DAY);
  expect(clockSteps()).toBe(0);
  still.mockRestore();
  expect(Date.now).toBe(time);
});
