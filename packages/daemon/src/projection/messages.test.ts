import type { Principal, SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { pruneEvents } from "../journal/prune.ts";
import { MessageQueries, messagesProjection } from "./messages.ts";
import { sessionsProjection, snapshotOf } from "./sessions.ts";

const ACTOR = "user:tester" as Principal;
const SESSIONS = ["aaaaaaaaaa", "bbbbbbbbbb"] as SessionId[];

function open() {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [sessionsProjection, messagesProjection], machineName: "box" });
  for (const [i, session] of SESSIONS.entries()) {
    const shape = { name: `s${i}`, kind: "terminal", agent: "demo", role: null, objective: null, host: "tmux", cwd: "/", command: ["x"] };
    journal.append({ type: "session.created", actor: ACTOR, session, data: shape } as Draft);
  }
  return { db, journal, messages: new MessageQueries(db) };
}

function about(id: string, session: SessionId | null, type: Draft["type"]): Draft {
  const to = session === null ? { to: ACTOR } : {};
  const data = { id, run: 1, via: "typed", working: false, why: "so", hint: "look", known: false, evidence: "hook", reply: "yes" };
  return { type, actor: ACTOR, session, data: { ...data, ...to, by: "x", text: id, steer: false } } as unknown as Draft;
}

const TYPES = [
  "message.injecting",
  "message.requeued",
  "message.injected",
  "message.read",
  "message.answered",
  "message.settled",
  "message.turn_started",
  "message.replied",
  "message.failed",
  "message.cancelled",
] as const;

test("messages rebuilt from the journal equal the live ones, even after a snapshot replaced old events", () => {
  const step = fc.record({ message: fc.nat(5), type: fc.constantFrom(...TYPES), prune: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { db, journal } = open();
      const dump = () => db.prepare("SELECT * FROM messages ORDER BY id").all();
      const firsts = () => db.prepare("SELECT id, first_prompt FROM sessions ORDER BY id").all();
      const known = new Set<string>();
      const toPersons = new Set<string>();
      for (const { message, type, prune } of steps) {
        const session = SESSIONS[message % 3] ?? null;
        const id = `m${message}`;
        if (!known.has(id)) journal.append(about(id, session, "message.queued"));
        known.add(id);
        if (session === null) toPersons.add(id);
        journal.append(about(id, session, type));
        const options = { before: "9999-01-01T00:00:00.000Z", actor: ACTOR, snapshot: snapshotOf, isThere: () => true, forget: () => {} };
        if (prune) pruneEvents(journal, { ...options, mostOldEvents: 3 });
      }
      const [live, first] = [dump(), firsts()];
      journal.rebuild();
      expect([dump(), firsts()]).toEqual([live, first]);
      expect(live.length).toBeGreaterThanOrEqual(known.size - toPersons.size);
      db.close();
    }),
    { numRuns: 100 },
  );
});

test("the first message that an agent gets says what its session is about; a cancelled one and a child's report do not", () => {
  const { db, journal } = open();
  const [parent, child] = SESSIONS as [SessionId, SessionId];
  const first = () => db.prepare("SELECT first_prompt FROM sessions ORDER BY id").all();
  const report = { ...about("m2", parent, "message.queued"), actor: `session:${child}` as Principal };
  journal.append({ type: "session.reparented", actor: ACTOR, session: child, data: { parent } } as Draft);
  journal.append(about("m1", parent, "message.queued"), about("m1", parent, "message.cancelled"));
  journal.append(report, about("m2", parent, "message.injecting"));
  expect(first()).toEqual([{ first_prompt: null }, { first_prompt: null }]);
  for (const id of ["m3", "m4"]) journal.append(about(id, parent, "message.queued"), about(id, parent, "message.injecting"));
  journal.append({ type: "session.first_prompted", actor: ACTOR, session: child, data: { run: 1, text: "typed" } });
  journal.append({ type: "session.first_prompted", actor: ACTOR, session: parent, data: { run: 1, text: "typed later" } });
  expect(first()).toEqual([{ first_prompt: "m3" }, { first_prompt: "typed" }]);
  journal.rebuild();
  expect(first()).toEqual([{ first_prompt: "m3" }, { first_prompt: "typed" }]);
});

test("a message given up in doubt reopens when a turn turns out to have started with it", () => {
  const { journal, messages } = open();
  const [session] = SESSIONS as [SessionId, SessionId];
  journal.append(about("m", session, "message.queued"), about("m", session, "message.injecting"), about("m", session, "message.failed"));
  expect([messages.open(session), messages.doubtful(session, 1).length]).toEqual([[], 1]);
  journal.append(about("m", session, "message.turn_started"));
  expect(messages.open(session)).toMatchObject([{ state: "turn_started", known: true, why: null, endedAt: null }]);
});

test("a settled message reopens when a turn turns out to have started with it (truth 6)", () => {
  const { journal, messages } = open();
  const [session] = SESSIONS as [SessionId, SessionId];
  const settled: Draft = { type: "message.settled", actor: ACTOR, session, data: { id: "m", why: "a command" } };
  journal.append(about("m", session, "message.queued"), about("m", session, "message.injecting"), about("m", session, "message.injected"));
  expect(messages.doubtful(session, 1)).toEqual([]);
  journal.append(settled);
  expect([messages.open(session), messages.doubtful(session, 1).length]).toEqual([[], 1]);
  journal.append(about("m", session, "message.turn_started"));
  expect(messages.open(session)).toMatchObject([{ state: "turn_started", why: null, endedAt: null }]);
});

test("removing a session removes its messages", () => {
  const { journal, messages } = open();
  const [session] = SESSIONS as [SessionId, SessionId];
  journal.append(about("m", session, "message.queued"));
  journal.append({ type: "session.removed", actor: ACTOR, session, data: { name: "s0" } });
  expect(messages.list({ limit: 10 })).toEqual([]);
});

test("wasSpokenTo ignores only messages that were cancelled or are known to have failed", () => {
  const { journal, messages } = open();
  const [session, other] = SESSIONS as [SessionId, SessionId];
  const failed = (id: string, known: boolean): Draft => {
    return { type: "message.failed", actor: ACTOR, session, data: { id, why: "so", hint: "look", known } };
  };
  journal.append(about("back", session, "message.queued"), about("back", session, "message.cancelled"));
  journal.append(about("never", session, "message.queued"), failed("never", true));
  journal.append(about("elsewhere", other, "message.queued"));
  expect(messages.wasSpokenTo(session)).toBe(false);
  journal.append(about("doubtful", session, "message.queued"), failed("doubtful", false));
  expect(messages.wasSpokenTo(session)).toBe(true);
  expect(messages.wasSpokenTo(other)).toBe(true);
});

test("a person's unread messages stay regardless of age; read ones are pruned with the events of their time", () => {
  const { db, journal, messages } = open();
  const options = { before: "9999-01-01T00:00:00.000Z", actor: ACTOR, snapshot: snapshotOf, isThere: () => true, forget: () => {} };
  for (const id of ["unread", "read"]) journal.append(about(id, null, "message.queued"));
  journal.append({ type: "message.read", actor: ACTOR, session: null, data: { id: "read" } });
  journal.append({ type: "daemon.started", actor: ACTOR, session: null, data: { pid: 1, version: "1", node: "n" } });
  const idsOf = () => messages.list({ person: ACTOR, limit: 10 }).map(({ id }) => id);
  const events = () => journal.readAfter(0, 100, { types: ["message.queued", "message.read"] }).map(({ data }) => data.id);
  for (const [left, told] of [
    [["unread"], ["unread", "read", "read"]],
    [["unread"], ["unread"]],
  ]) {
    pruneEvents(journal, options);
    expect([idsOf(), events()]).toEqual([left, told]);
    journal.rebuild();
    expect(idsOf()).toEqual(left);
  }
  expect(messages.countUnread({ person: ACTOR })).toBe(1);
  db.close();
});

test("line() lists a session's open messages in the order sent, with the fields that decide which is next", () => {
  const { journal, messages } = open();
  const [session, other] = SESSIONS as [SessionId, SessionId];
  for (const id of ["c", "a", "b", "d"]) journal.append(about(id, session, "message.queued"));
  journal.append(about("elsewhere", other, "message.queued"), about("a", session, "message.injecting"));
  journal.append(about("b", session, "message.cancelled"));
  const line = messages.open(session).map(({ id, state, steer }) => ({ id, state, steer }));
  expect(messages.line(session)).toEqual(line);
  expect(line.map(({ id, state }) => `${id} ${state}`)).toEqual(["c queued", "a injecting", "d queued"]);
});

test("a message is not read before an earlier one of the same sender that is on its way", () => {
  const { journal, messages } = open();
  const [session] = SESSIONS as [SessionId, SessionId];
  const from = (id: string, actor: string): Draft => ({ ...about(id, session, "message.queued"), actor: actor as Principal }) as Draft;
  journal.append(from("a1", "session:a"), from("b1", "session:b"), from("a2", "session:a"), from("b2", "session:b"));
  const unread = () => [
    messages
      .unread({ session }, 10)
      .map(({ id }) => id)
      .join(" "),
    messages.countUnread({ session }),
  ];
  expect(unread()).toEqual(["a1 b1 a2 b2", 4]);
  journal.append(about("a1", session, "message.injecting"));
  expect(unread()).toEqual(["b1 b2", 2]);
  journal.append({ type: "message.requeued", actor: ACTOR, session, data: { id: "a1", why: "the socket is gone", doubt: true } });
  expect(unread()).toEqual(["b1 b2", 2]);
  journal.append(about("a1", session, "message.injecting"), about("a1", session, "message.injected"));
  expect(unread()).toEqual(["b1 a2 b2", 3]);
});
