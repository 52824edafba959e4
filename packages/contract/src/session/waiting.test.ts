import { expect, test } from "vitest";
import type { Session } from "./session.ts";
import { nextWaiting, waitingSessions } from "./waiting.ts";

const session = (id: string, more: Partial<Session>) =>
  ({ id, status: "working", attention: null, hung: false, statusForMs: 1, ...more }) as Session;
const waits = (what: "approval" | "rate_limit") => ({ status: "waiting", attention: { for: what, text: null, until: null } }) as const;

const some = [
  session("works", {}),
  session("hangs", { hung: true }),
  session("limited", { ...waits("rate_limit"), statusForMs: 9000 }),
  session("idle", { status: "idle", statusForMs: 8000 }),
  session("late", { ...waits("approval"), statusForMs: 5 }),
  session("early", { ...waits("approval"), statusForMs: 50 }),
];

test("sessions that wait for a person come first, longest first, then hung ones; a rate limit waits for nobody", () => {
  expect(waitingSessions(some).map(({ id }) => id)).toEqual(["early", "late", "hangs"]);
  expect(waitingSessions(some, { idle: true }).map(({ id }) => id)).toEqual(["early", "late", "hangs", "limited", "idle"]);
});

test("next wraps around and never returns the current session", () => {
  expect(nextWaiting(some, { current: "late" })?.id).toBe("hangs");
  expect(nextWaiting(some, { current: "hangs" })?.id).toBe("early");
  expect(nextWaiting(some.slice(0, 2), { current: "hangs" })).toBeUndefined();
  expect(nextWaiting(some.slice(2, 3))).toBeUndefined();
});
