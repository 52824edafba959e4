import { expect, test } from "vitest";
import { unreadText } from "./agree.ts";

const AT = "2026-01-01T00:00:00.000Z";
const digest = (more: object = {}) => ({ news: true, answers: [], troubles: [], work: null, ...more });

test("an ended session is unread until somebody has viewed it, a live session while it has news (mend 23)", () => {
  const ended = "unread: nobody has viewed it since it ended";
  expect(unreadText({ kind: "terminal", status: "failed", viewedAt: null }, digest())).toBe(ended);
  expect(unreadText({ kind: "terminal", status: "failed", viewedAt: AT }, digest())).toBeNull();
  expect(unreadText({ kind: "terminal", status: "done", viewedAt: null }, undefined)).toBe(ended);
  const answers = [{ turn: 1, run: 1, at: AT, text: "done", cut: false }];
  expect(unreadText({ kind: "terminal", status: "idle", viewedAt: null }, digest({ answers }) as never)).toBe(
    "unread: nobody has read its last answer",
  );
  expect(unreadText({ kind: "shell", status: "working", viewedAt: null }, digest())).toBe("unread: it has news");
  expect(unreadText({ kind: "shell", status: "working", viewedAt: null }, digest({ news: false }))).toBeNull();
});

test("an agent that hangs in its first turn has no unread answer (mend 23)", () => {
  expect(unreadText({ kind: "terminal", status: "working", viewedAt: null }, digest())).toBeNull();
  const troubles = [{ at: AT, kind: "rate_limit", text: "later" }] as never;
  expect(unreadText({ kind: "terminal", status: "working", viewedAt: null }, digest({ troubles }))).toBe("unread: it has news");
});
