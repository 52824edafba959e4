import type { Principal, SessionId } from "@holdfast/contract";
import { expect, test, vi } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { Journal } from "../journal/journal.ts";
import { looksProjection } from "../projection/looks.ts";
import { Looks } from "./looks.ts";

const ME = "user:me" as Principal;
const YOU = "user:you" as Principal;
const SESSION = "aaaaaaaaaa" as SessionId;

function open() {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [looksProjection], machineName: "box" });
  const removed = new Set<SessionId>();
  const looks = new Looks({ journal, db, isThere: (session) => !removed.has(session), everyMs: 60_000 });
  const written = () => journal.readAfter(0, 100).map(({ actor, data }) => `${actor} ${data.upTo}`);
  return { db, journal, looks, written, removed };
}

test("a look is recorded at once, and of those in the next minute only the last, when the minute is over", () => {
  vi.useFakeTimers();
  try {
    const { looks, written } = open();
    looks.note(SESSION, ME, { upTo: 3, head: null });
    looks.note(SESSION, ME, { upTo: 5, head: null });
    looks.note(SESSION, YOU, { upTo: 4, head: null });
    looks.note(SESSION, ME, { upTo: 7, head: "a".repeat(40) });
    expect(written()).toEqual(["user:me 3", "user:you 4"]);
    expect(looks.of(SESSION, ME)).toMatchObject({ upTo: 7, head: "a".repeat(40) });
    vi.advanceTimersByTime(59_000);
    expect(written()).toHaveLength(2);
    vi.advanceTimersByTime(2000);
    expect(written()).toEqual(["user:me 3", "user:you 4", "user:me 7"]);
    expect(looks.of(SESSION, ME)).toMatchObject({ upTo: 7 });
    vi.advanceTimersByTime(120_000);
    looks.note(SESSION, ME, { upTo: 8, head: null });
    expect(written()).toContain("user:me 8");
  } finally {
    vi.useRealTimers();
  }
});

test("an earlier look does not replace a later one, and a daemon that ends records pending looks", () => {
  const { looks, written } = open();
  looks.note(SESSION, ME, { upTo: 6, head: null });
  looks.note(SESSION, ME, { upTo: 2, head: null });
  expect(looks.of(SESSION, ME)).toMatchObject({ upTo: 6 });
  looks.note(SESSION, ME, { upTo: 9, head: null });
  looks[Symbol.dispose]();
  expect(written()).toEqual(["user:me 6", "user:me 9"]);
});

test("a pending look of a removed session is not recorded", () => {
  const { looks, written, removed } = open();
  looks.note(SESSION, ME, { upTo: 6, head: null });
  looks.note(SESSION, ME, { upTo: 9, head: null });
  removed.add(SESSION);
  looks[Symbol.dispose]();
  expect(written()).toEqual(["user:me 6"]);
});
