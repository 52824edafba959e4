import { expect, test } from "vitest";
import type { SessionRecord } from "../projection/session-queries.ts";
import { isNear, isReached, isWorking, nextMinuteMark, usesOf } from "./used.ts";

const SPENT = {
  turns: 1,
  input: 100,
  output: 20,
  cacheRead: 5000,
  cacheWrite: 3,
  unknownTokens: 0,
  cost: 1.5,
  unknownCosts: 0,
  estimated: false,
  context: null,
};
const working = { status: "working", standing: { turn: "working" } } as unknown as SessionRecord;
const idle = { status: "idle", standing: { turn: "idle" } } as unknown as SessionRecord;
const over = { status: "stopped", standing: { turn: "working" } } as unknown as SessionRecord;

test("each limit has its use: turns, minutes of runs, new tokens, dollars; unreported use is unknown", () => {
  const budget = { turns: 10, minutes: 30, tokens: 200, cost: 2 };
  expect(usesOf(budget, { turns: 3, spent: SPENT, withChildren: null, ranMs: 90_000 })).toEqual([
    { limit: "turns", allowed: 10, used: 3, own: 3 },
    { limit: "minutes", allowed: 30, used: 1.5, own: 1.5 },
    { limit: "tokens", allowed: 200, used: 123, own: 123 },
    { limit: "cost", allowed: 2, used: 1.5, own: 1.5 },
  ]);
  expect(usesOf({ tokens: 5, cost: 1 }, { turns: 3, spent: null, withChildren: null, ranMs: 0 }).map(({ used }) => used)).toEqual([
    null,
    null,
  ]);
  expect(usesOf({ cost: 1 }, { turns: 3, spent: { ...SPENT, cost: null }, withChildren: null, ranMs: 0 })).toEqual([
    { limit: "cost", allowed: 1, used: null, own: null },
  ]);
  expect(usesOf({}, { turns: 3, spent: null, withChildren: null, ranMs: 0 })).toEqual([]);
});

test("tokens and cost of child sessions count; a session's own are listed separately (mend 15)", () => {
  const all = { ...SPENT, input: 1000, cost: 4 };
  expect(usesOf({ turns: 9, tokens: 9000, cost: 5 }, { turns: 3, spent: SPENT, withChildren: all, ranMs: 0 })).toEqual([
    { limit: "turns", allowed: 9, used: 3, own: 3 },
    { limit: "tokens", allowed: 9000, used: 1023, own: 123 },
    { limit: "cost", allowed: 5, used: 4, own: 1.5 },
  ]);
});

test("the last allowed turn may run to its end; all other limits are strict", () => {
  const turns = (used: number) => ({ limit: "turns" as const, allowed: 2, used });
  expect([isReached(turns(2), working), isReached(turns(3), working)]).toEqual([false, true]);
  expect([isReached(turns(1), idle), isReached(turns(2), idle), isReached(turns(2), over)]).toEqual([false, true, true]);
  expect(isReached({ limit: "tokens", allowed: 2, used: 2 }, working)).toBe(true);
  expect(isReached({ limit: "cost", allowed: 2, used: null }, working)).toBe(false);
  expect([isWorking(working), isWorking(idle), isWorking(over)]).toEqual([true, false, false]);
});

test("a limit is near at four fifths", () => {
  const near = (used: number | null) => isNear({ allowed: 10, used });
  expect([near(7), near(8), near(12), near(null)]).toEqual([false, true, true, false]);
});

test("minutes are checked when they near their limit and when they reach it", () => {
  const use = { limit: "minutes" as const, allowed: 1, used: null };
  expect(nextMinuteMark(use, 0)).toBe(48_000);
  expect(nextMinuteMark(use, 50_000)).toBe(10_000);
  expect(nextMinuteMark(use, 60_000)).toBe(Number.POSITIVE_INFINITY);
});
