import { expect, test } from "vitest";
import { isUnread } from "./agree.ts";

test("an ended session is unread until somebody has looked at it, a live one while it has news (mend 23)", () => {
  const news = new Set(["a"]);
  const at = "2026-01-01T00:00:00.000Z";
  expect(isUnread({ id: "a", status: "failed", viewedAt: null }, news)).toBe(true);
  expect(isUnread({ id: "a", status: "failed", viewedAt: at }, news)).toBe(false);
  expect(isUnread({ id: "b", status: "done", viewedAt: null }, news)).toBe(true);
  expect(isUnread({ id: "a", status: "idle", viewedAt: null }, news)).toBe(true);
  expect(isUnread({ id: "b", status: "working", viewedAt: null }, news)).toBe(false);
});
