import type { SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { AnnouncedTurns, GOES_ON_MS } from "./announced-turns.ts";

const session = "aaaaaaaaaa" as SessionId;
const prompt = (turn: string, at: string) => ({ at, turn, prompt: "a prompt" });
const end = (turn: string) => ({ at: "9", turn, prompt: null });

test("a prompt reported with the id of a turn that another prompt began has been taken into that turn (truth 8)", () => {
  const turns = new AnnouncedTurns();
  expect(turns.take(session, 1, prompt("t1", "1"), false)).toBe(false);
  expect(turns.take(session, 1, prompt("t1", "2"), false)).toBe(true);
  expect([turns.isAnnounced(session, 1, "t1"), turns.isAnnounced(session, 1, "t2")]).toEqual([true, false]);
  expect(turns.take(session, 1, prompt("t2", "3"), false)).toBe(false);
  // A report that could not be used is taken again, and a new run begins anew.
  expect(turns.take(session, 1, prompt("t2", "3"), false)).toBe(false);
  expect(turns.take(session, 2, prompt("t2", "4"), false)).toBe(false);
});

test("after a turn during which prompts were taken, the agent may begin the next without an announcement (truth 8)", () => {
  let now = 0;
  const turns = new AnnouncedTurns(() => now);
  turns.take(session, 1, prompt("t1", "1"), false);
  turns.take(session, 1, end("t1"), true);
  expect(turns.mayGoOn(session, 1)).toBe(false);
  turns.take(session, 1, prompt("t2", "2"), false);
  turns.take(session, 1, prompt("t2", "3"), false);
  expect(turns.mayGoOn(session, 1)).toBe(false);
  turns.take(session, 1, end("t2"), true);
  expect(turns.mayGoOn(session, 1)).toBe(true);
  now += GOES_ON_MS;
  expect(turns.mayGoOn(session, 1)).toBe(false);
});
