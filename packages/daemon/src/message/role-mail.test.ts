import type { Principal, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { pruneEvents } from "../journal/prune.ts";
import { PROJECTIONS } from "../projection/all.ts";
import { GroupQueries } from "../projection/group-queries.ts";
import { MessageQueries } from "../projection/messages.ts";
import { removal } from "../projection/removal.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { snapshotOf } from "../projection/sessions.ts";
import { roleMail } from "./role-mail.ts";

const ME = "user:tester" as Principal;
const [LEAD, NEXT] = ["leadxxxxxx", "nextxxxxxx"] as SessionId[] as [SessionId, SessionId];

/** Two running members of the group `team`, coordinated by the first. */
class Bench {
  now = Date.parse("2026-01-01T00:00:00Z");
  readonly db = openDatabase(":memory:");
  readonly journal = new Journal({ db: this.db, projections: PROJECTIONS, machineName: "box", clock: () => this.now });
  readonly sessions = new SessionQueries(this.db);
  readonly messages = new MessageQueries(this.db);

  constructor() {
    this.journal.followWith(roleMail({ messages: this.messages, groups: new GroupQueries(this.db), additionFor: () => ({}) }));
    this.append("group.created", null, { group: "team", limit: null });
    for (const id of [LEAD, NEXT]) {
      const shape = { name: id, kind: "shell", agent: "shell", role: null, objective: null, host: "native", cwd: "/", command: ["sh"] };
      this.append("session.created", id, shape);
      this.append("session.started", id, { run: 1, pid: 7, pidStart: "x-1", outputPath: "/out" });
      this.append("group.joined", id, { group: "team" });
    }
    this.coordinate(LEAD, null);
  }

  append(type: Draft["type"], session: SessionId | null, data: object, actor = ME): void {
    this.journal.append({ type, actor, session, data } as Draft);
  }

  coordinate(to: SessionId | null, from: SessionId | null = LEAD): void {
    this.append("group.coordinator_changed", to, { group: "team", coordinator: to, from, why: "asked" });
  }

  /** Sends to the coordinator, which is LEAD. */
  say(id: string, actor = ME): void {
    const data = { id, text: `text of ${id}`, steer: false, group: "team", role: "coordinator", sent: `s${id}`, thread: `s${id}` };
    this.append("message.queued", LEAD, data, actor);
  }

  end(session: SessionId): void {
    const data = { run: 1, exit: { code: 0, signal: null }, cause: "exited", endedAt: new Date(this.now).toISOString() };
    this.append("session.ended", session, { ...data, lastActivityAt: null, bytes: 0 });
  }

  waitingFor(session: SessionId): string[] {
    return this.messages.open(session).map(({ id }) => id);
  }

  rows(): unknown {
    return this.db
      .prepare("SELECT * FROM messages ORDER BY id")
      .all()
      .map((row) => ({ ...row }));
  }
}

test("messages to a coordinator move to the next one with the same ids, in order, and to nobody else (mend 22)", () => {
  const bench = new Bench();
  bench.say("aaaaaaaaaa");
  bench.say("bbbbbbbbbb");
  bench.end(LEAD);
  // They do not fail between the end and the next coordinator.
  expect([bench.waitingFor(LEAD), bench.messages.countUnread({ session: LEAD })]).toEqual([[], 0]);
  bench.coordinate(NEXT);
  expect(bench.waitingFor(NEXT)).toEqual(["aaaaaaaaaa", "bbbbbbbbbb"]);
  expect(bench.messages.get("aaaaaaaaaa")).toMatchObject({
    session: NEXT,
    state: "queued",
    from: ME,
    sent: "saaaaaaaaaa",
    role: "coordinator",
  });
  expect(bench.waitingFor(LEAD)).toEqual([]);
});

test("a delivered message stays with the old coordinator, and one that is requeued moves to the new one (mend 22)", () => {
  const bench = new Bench();
  bench.say("aaaaaaaaaa");
  bench.say("bbbbbbbbbb");
  bench.append("message.injecting", LEAD, { id: "aaaaaaaaaa", run: 1, via: "typed", working: false });
  bench.append("message.read", LEAD, { id: "bbbbbbbbbb" });
  bench.coordinate(NEXT);
  expect(bench.messages.get("bbbbbbbbbb")).toMatchObject({ session: LEAD, state: "injected" });
  expect(bench.waitingFor(NEXT)).toEqual([]);
  bench.append("message.requeued", LEAD, { id: "aaaaaaaaaa", why: "not now" });
  expect(bench.waitingFor(NEXT)).toEqual(["aaaaaaaaaa"]);
});

test("messages wait without a coordinator, even if the last one is removed; they fail with the group, and never go to their sender (mend 22)", () => {
  const bench = new Bench();
  bench.say("aaaaaaaaaa");
  bench.say("bbbbbbbbbb", `session:${NEXT}` as Principal);
  bench.coordinate(null);
  expect([bench.waitingFor(LEAD), bench.messages.isInLine("aaaaaaaaaa")]).toEqual([[], false]);
  bench.end(LEAD);
  bench.journal.append(...removal(bench.sessions, bench.sessions.resolve(LEAD), { actor: ME }));
  expect(bench.messages.get("aaaaaaaaaa")).toMatchObject({ state: "queued" });
  bench.coordinate(NEXT, null);
  expect(bench.waitingFor(NEXT)).toEqual(["aaaaaaaaaa"]);
  expect(bench.messages.get("bbbbbbbbbb")).toMatchObject({ state: "failed", why: "its sender now coordinates the group" });
  bench.append("group.removed", null, { group: "team", revision: 0 });
  expect(bench.messages.get("aaaaaaaaaa")).toMatchObject({ state: "failed", why: expect.stringContaining("group was removed") });
});

test("rebuilt tables have moved messages in place, even after events of the old coordinator were pruned (mend 22)", () => {
  const bench = new Bench();
  bench.say("aaaaaaaaaa");
  bench.end(LEAD);
  bench.coordinate(NEXT);
  bench.journal.append(...removal(bench.sessions, bench.sessions.resolve(LEAD), { actor: ME }));
  const live = bench.rows();
  bench.journal.rebuild();
  expect(bench.rows()).toEqual(live);
  bench.now += 30 * 86_400_000;
  const isThere = (session: SessionId) => bench.sessions.get(session) !== undefined;
  const before = new Date(bench.now - 86_400_000).toISOString();
  for (const mostOldEvents of [1000, 1])
    while (pruneEvents(bench.journal, { before, actor: ME, snapshot: snapshotOf, isThere, forget: () => {}, mostOldEvents }));
  expect(bench.rows()).toEqual(live);
  bench.journal.rebuild();
  expect(bench.rows()).toEqual(live);
});
