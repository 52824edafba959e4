import { LONGEST_REPLY, type Principal, type SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import type { Signal } from "../../agent/hooks/hook-rules.ts";
import { openDatabase } from "../../journal/database.ts";
import { type Draft, Journal } from "../../journal/journal.ts";
import { SessionQueries, type SessionRecord } from "../../projection/session-queries.ts";
import { sessionsProjection } from "../../projection/sessions.ts";
import { TurnQueries, turnsProjection } from "../../projection/turns.ts";
import { repliesFrom } from "./replies.ts";

const SESSION = "aaaaaaaaaa" as SessionId;
const ACTOR = "user:tester" as Principal;
const AT = "2026-11-15T05:00:00.000Z";

function open() {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [sessionsProjection, turnsProjection], machineName: "box" });
  const shape = { name: "api", kind: "terminal", agent: "demo", role: null, objective: null, host: "tmux", cwd: "/", command: ["x"] };
  const began = { run: 1, status: "working", since: AT, sinceBoot: null, turn: "working", attention: null, background: null, hung: false };
  journal.append(
    { type: "session.created", actor: ACTOR, session: SESSION, data: shape } as Draft,
    {
      type: "session.status_changed",
      actor: ACTOR,
      session: SESSION,
      data: { ...began, turnBegan: true, evidence: [] },
    } as Draft,
  );
  const follow = repliesFrom(new TurnQueries(db));
  const record = new SessionQueries(db).get(SESSION) as SessionRecord;
  const tell = (told: Partial<Signal>) => {
    const drafts = follow({ record, evidence: [], signal: { at: AT, reply: null, failure: null, ...told } as Signal });
    if (drafts.length > 0) journal.append(...drafts);
    return drafts.map(({ type, data }) => ({ type, ...data }));
  };
  return { tell };
}

test("an answer and a failure are recorded once each, however often their file is taken", () => {
  const { tell } = open();
  expect(tell({ reply: "done" })).toEqual([{ type: "session.replied", run: 1, turn: 1, toldAt: AT, reply: "done", cut: false }]);
  expect(tell({ reply: "done" })).toEqual([]);
  expect(tell({ reply: "done", at: "2026-11-15T05:00:01.000Z" })).toHaveLength(1);
  expect(tell({ failure: "overloaded" })).toMatchObject([{ type: "session.turn_failed", turn: 1, why: "overloaded" }]);
  expect(tell({ failure: "overloaded" })).toEqual([]);
  expect(tell({})).toEqual([]);
  expect(tell({ reply: "" })).toEqual([]);
});

test("a very long answer is cut at a whole character, and marked as cut", () => {
  const { tell } = open();
  const [told] = tell({ reply: `${"x".repeat(LONGEST_REPLY - 1)}😀 and more` });
  expect(told).toMatchObject({ cut: true });
  expect((told as { reply: string }).reply.length).toBe(LONGEST_REPLY);
  expect((told as { reply: string }).reply.isWellFormed()).toBe(true);
});
