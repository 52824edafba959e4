import type { Principal, SessionId } from "@holdfast/contract";
import { afterEach, expect, test, vi } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { eventsFrom, startOf } from "./events.ts";

const ONE = "aaaaaaaaaa" as SessionId;
const TWO = "bbbbbbbbbb" as SessionId;

function renamed(session: SessionId, name = "n"): Draft {
  return { type: "session.renamed", actor: "user:tester" as Principal, session, data: { from: "f", name } };
}

function open() {
  const journal = new Journal({ db: openDatabase(":memory:"), projections: [], machineName: "box" });
  const stop = new AbortController();
  const follow = (options: { seq?: number; filter?: Parameters<typeof eventsFrom>[1]["filter"] } = {}) =>
    eventsFrom(journal, { seq: options.seq ?? 0, filter: options.filter ?? {}, signal: stop.signal });
  return { journal, stop, follow };
}

afterEach(() => {
  vi.useRealTimers();
});

test("a stream starts at its cursor, and without one at the beginning", () => {
  const { journal } = open();
  journal.append(renamed(ONE), renamed(ONE));
  expect([startOf(journal, undefined), startOf(journal, "1"), startOf(journal, `${journal.epoch}:2`)]).toEqual([0, 1, 2]);
  expect(() => startOf(journal, "nonsense")).toThrow(expect.objectContaining({ code: "usage" }));
  expect(() => startOf(journal, "3")).toThrow(expect.objectContaining({ code: "cursor_gone" }));
  expect(() => startOf(journal, "other:1")).toThrow(expect.objectContaining({ code: "cursor_gone" }));
});

test("a fast, a slow and a late reader each get every event once, in order", async () => {
  const { journal, stop, follow } = open();
  for (let i = 0; i < 700; i++) journal.append(renamed(ONE));
  const read = async (pauseEach: number, seq = 0) => {
    const seqs: number[] = [];
    for await (const event of follow({ seq })) {
      if (event) seqs.push(event.seq);
      if (event && event.seq % pauseEach === 0) await new Promise(setImmediate);
      if (event?.seq === 2000) break;
    }
    return seqs;
  };
  const readers = [read(1_000_000), read(3), read(50, 650)];
  for (let i = 700; i < 2000; i++) {
    journal.append(renamed(TWO));
    if (i % 7 === 0) await new Promise(setImmediate);
  }
  const upTo = (from: number) => Array.from({ length: 2000 - from }, (_, i) => from + i + 1);
  expect(await Promise.all(readers)).toEqual([upTo(0), upTo(0), upTo(650)]);
  stop.abort();
});

test("a filtered stream skips any number of other events", async () => {
  const { journal, stop, follow } = open();
  for (let i = 0; i < 1200; i++) journal.append(renamed(TWO));
  journal.append(renamed(ONE, "first"));
  const events = follow({ filter: { session: ONE } });
  expect((await events.next()).value?.seq).toBe(1201);
  const next = events.next();
  for (let i = 0; i < 10; i++) journal.append(renamed(TWO));
  journal.append(renamed(ONE, "second"));
  expect((await next).value).toMatchObject({ seq: 1212, data: { name: "second" } });
  stop.abort();
});

test("an idle stream sends a keep-alive every 15 seconds, and ends at once", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { journal, stop, follow } = open();
  const events = follow();
  for (let i = 0; i < 2; i++) {
    const next = events.next();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await next).toEqual({ done: false, value: undefined });
  }
  const next = events.next();
  journal.append(renamed(ONE));
  expect((await next).value?.seq).toBe(1);
  const last = events.next();
  stop.abort();
  expect((await last).done).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});
