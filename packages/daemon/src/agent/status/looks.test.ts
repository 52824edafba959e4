import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Looks } from "./looks.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(): { looks: Looks; seen: [key: string, settled: boolean][] } {
  const seen: [key: string, settled: boolean][] = [];
  return { seen, looks: new Looks((key, settled) => seen.push([key, settled])) };
}

test("a screen is looked at when it begins to change and when it settles, and not while nothing is written (truth 6)", () => {
  const { looks, seen } = watched();
  for (let i = 0; i < 5; i++) {
    looks.stir("a");
    vi.advanceTimersByTime(20);
  }
  expect(seen).toEqual([["a", false]]);
  vi.advanceTimersByTime(400);
  expect(seen.slice(1)).toEqual([["a", true]]);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect(seen).toHaveLength(2);
});

test("a screen that changes now and then is looked at once per change (truth 6)", () => {
  const { looks, seen } = watched();
  for (let i = 0; i < 10; i++) {
    looks.stir("clock");
    vi.advanceTimersByTime(200);
  }
  expect(seen.slice(1)).toEqual(Array(10).fill(["clock", true]));
});

test("a spinner that starts right after a look is seen within half a second (truth 6)", () => {
  const { looks, seen } = watched();
  looks.stir("a");
  vi.advanceTimersByTime(200);
  seen.length = 0;
  for (let i = 0; i < 4; i++) {
    looks.stir("a");
    vi.advanceTimersByTime(125);
  }
  expect(seen).toEqual([["a", false]]);
});

test("a screen that never settles is looked at once a second, and soon after it settles", () => {
  const { looks, seen } = watched();
  for (let i = 0; i < 50; i++) {
    looks.stir("spinner");
    vi.advanceTimersByTime(100);
  }
  expect(seen.length).toBeGreaterThanOrEqual(5);
  expect(seen.length).toBeLessThanOrEqual(6);
  expect(seen.every(([, settled]) => !settled)).toBe(true);
  vi.advanceTimersByTime(300);
  expect(seen.at(-1)).toEqual(["spinner", true]);
});

test("a hundred screens share one timer", () => {
  const { looks, seen } = watched();
  for (let i = 0; i < 100; i++) looks.stir(`s${i}`);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(400);
  expect(new Set(seen.map(([key]) => key)).size).toBe(100);
});

test("an ordered look happens even if nothing is written, and a forgotten one does not", () => {
  const { looks, seen } = watched();
  looks.order("again", 100);
  looks.stir("gone");
  looks.order("gone", 50);
  looks.forget("gone");
  vi.advanceTimersByTime(400);
  expect(seen).toEqual([["again", true]]);
});

test("orders that keep coming postpone no look, and the last one is kept (truth 12)", () => {
  const { looks, seen } = watched();
  for (let i = 0; i < 100; i++) {
    looks.order("a", 600);
    vi.advanceTimersByTime(20);
  }
  expect(seen.length).toBeGreaterThanOrEqual(2);
  expect(seen.length).toBeLessThanOrEqual(4);
  const before = seen.length;
  vi.advanceTimersByTime(600);
  expect(seen.length).toBeGreaterThan(before);
  expect(vi.getTimerCount()).toBe(0);
});
