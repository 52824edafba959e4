import type { SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { remembers } from "./remembers.ts";

const SHOWS = /^✦ /;
const empty = { lines: ["", " >   Type your message"] };
const shown = { lines: ["✦ periwinkle", " >   Type your message"] };
const since = "2026-01-01T00:00:00.000Z";
const resumed = {
  run: 2,
  turns: 1,
  conversation: "a",
  conversations: [{ id: "a", run: 1, since, turns: 1 }],
  forkedFrom: null,
  pidStart: null,
  startedAt: new Date().toISOString(),
};
const forkedFrom = { session: "abcdefghij" as SessionId, name: "x", conversation: "y", checkpoint: null };

test("an agent that continues a conversation remembers it once its screen shows some of it", () => {
  expect([remembers(resumed, SHOWS, empty), remembers(resumed, SHOWS, shown)]).toEqual([false, true]);
  const fork = { ...resumed, run: 1, turns: 0, forkedFrom };
  expect([remembers(fork, SHOWS, empty), remembers(fork, SHOWS, shown)]).toEqual([false, true]);
});

test("a new conversation has nothing to show, and an agent that shows nothing is not waited for forever", () => {
  expect(remembers({ ...resumed, run: 1 }, SHOWS, empty)).toBe(true);
  expect(
    remembers(
      { ...resumed, conversation: "b", conversations: [...resumed.conversations, { id: "b", run: 2, since, turns: 0 }] },
      SHOWS,
      empty,
    ),
  ).toBe(true);
  expect(remembers({ ...resumed, run: 1, turns: 0 }, SHOWS, empty)).toBe(true);
  expect(remembers({ ...resumed, startedAt: since }, SHOWS, empty)).toBe(true);
  expect(remembers(resumed, undefined, empty)).toBe(true);
});
