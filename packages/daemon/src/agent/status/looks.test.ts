import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Looks } from "./looks.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(): { looks: Looks; seen: [key: string, settled: boolean][] } {
  const seen: [key: string, settled: boolean][] = [];
  return { seen, looks: new Looks((key, settled) => seen.push([key, settled])) };
}

test("a screen that came to rest is looked at once, and not again while nothing is written", () => {
  const { looks, seen } = watched();
  for (let i = 0; i < 5; i++) {
    looks.stir("a");
    vi.advanceTimersByTime(20);
  }
  expect(seen).toEqual([]);
  vi.advanceTimersByTime(400);
  expect(seen).toEqual([["a", true]]);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect(seen).toHaveLength(1);
});

test("one that never rests is looked at once a second, and soon when it does", () => {
  const { looks, seen } = watched();
  for (let i = 0; i < 50; i++) {
    looks.stir("spinner");
    vi.advanceTimersByTime(100);
  }
  expect(seen.length).toBeGreaterThanOrEqual(4);
  expect(seen.length).toBeLessThanOrEqual(5);
  expect(seen.every(([, settled]) => !settled)).toBe(true);
  vi.advanceTimersByTime(300);
  expect(seen.at(-1)).toEqual(["spinner", true]);
});

test("a hundred of them share one timer", () => {
  const { looks, seen } = watched();
  for (let i = 0; i < 100; i++) looks.stir(`s${i}`);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(400);
  expect(new Set(seen.map(([key]) => key)).size).toBe(100);
});

test("a look that was ordered comes though nothing is written, and one that was forgotten does not", () => {
  const { looks, seen } = watched();
  looks.order("again", 100);
  looks.stir("gone");
  looks.order("gone", 50);
  looks.forget("gone");
  vi.advanceTimersByTime(400);
  expect(seen).toEqual([["again", true]]);
});
