import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import type { Principal, SessionId } from "@holdfast/contract";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Profiles } from "../agent/profiles/index.ts";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { sessionsProjection } from "../projection/sessions.ts";
import { turnsProjection } from "../projection/turns.ts";
import { UsageQueries, usageProjection } from "../projection/usage.ts";
import { UsageReading } from "./reading.ts";

const ACTOR = "user:tester" as Principal;
const SESSION = "aaaaaaaaaa" as SessionId;
const BEGAN = Date.parse("2026-11-15T05:00:00.000Z");

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hf-reading-"));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function open() {
  const db = openDatabase(":memory:");
  const journal = new Journal({
    db,
    projections: [sessionsProjection, turnsProjection, usageProjection],
    machineName: "box",
    clock: () => BEGAN,
  });
  const queries = new UsageQueries(db);
  const profiles = new Profiles(() => []);
  const start = (more: object = {}) =>
    new UsageReading({
      journal,
      sessions: new SessionQueries(db),
      usage: queries,
      profiles,
      envOf: () => ({ HOME: home }),
      againMs: 30,
      ...more,
    });
  const create = (conversation: string | undefined, agent = "demo") => {
    const shape = { name: "api", kind: "terminal", agent, role: null, objective: null, host: "tmux", cwd: "/", command: ["x"] };
    journal.append(
      { type: "session.created", actor: ACTOR, session: SESSION, data: { ...shape, conversation } } as Draft,
      { type: "session.started", actor: ACTOR, session: SESSION, data: { run: 1, pid: 7, pidStart: "x-1", outputPath: "/out" } } as Draft,
    );
  };
  const facts = () => queries.facts({}).map(({ turn, model, input }) => `${turn} ${model} ${input}`);
  return { db, journal, queries, start, create, facts };
}

/** The time this many seconds after the session began. */
function at(second: number): string {
  return new Date(BEGAN + second * 1000).toISOString();
}

function use(conversation: string, second: number, more: object = {}): void {
  const file = join(home, ".local/state/holdfast-demo", `${conversation}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  const used = {
    id: `${conversation}-${second}`,
    at: at(second),
    model: "fine",
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    ...more,
  };
  appendFileSync(file, `${JSON.stringify({ used })}\n`);
}

/** Resolves after all immediate follow-ups. */
async function calm(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await breathe();
}

function status(turn: "working" | "idle", second: number, began = turn === "working"): Draft {
  const data = {
    run: 1,
    status: turn,
    since: at(second),
    sinceBoot: null,
    turn,
    attention: null,
    background: null,
    hung: false,
    evidence: [],
  };
  return { type: "session.status_changed", actor: ACTOR, session: SESSION, data: { ...data, turnBegan: began } } as Draft;
}

function ended(): Draft {
  const data = { run: 1, exit: { code: 0, signal: null }, cause: "exited", endedAt: at(100), lastActivityAt: null, bytes: 0 };
  return { type: "session.ended", actor: ACTOR, session: SESSION, data } as Draft;
}

test("calls of one turn and model are one fact; each reading adds only new calls", async () => {
  const { journal, start, create, facts } = open();
  create("c1");
  using reading = start();
  journal.append(status("working", 1), status("idle", 10), status("working", 20));
  use("c1", 2);
  use("c1", 3, { input: 5, context: 10, contextSize: 100 });
  use("c1", 4, { model: "small" });
  use("c1", 21, { input: 7 });
  await reading.read(SESSION);
  expect(facts()).toEqual(["1 fine 6", "1 small 1", "2 fine 7"]);
  await reading.read(SESSION);
  expect(facts()).toHaveLength(3);
  use("c1", 22, { input: null, cost: 0.5 });
  use("c1", 23, { input: 2, cost: 0.25 });
  await reading.read(SESSION);
  expect(facts().slice(3)).toEqual(["2 fine null"]);
});

test("the next daemon continues where the last one stopped", async () => {
  const { journal, queries, start, create, facts } = open();
  create("c1");
  use("c1", 1);
  {
    using reading = start();
    await reading.read(SESSION);
  }
  use("c1", 2, { input: 3 });
  using next = start();
  await next.read(SESSION);
  expect(facts()).toEqual(["null fine 1", "null fine 3"]);
  expect(queries.stateOf(SESSION, join(home, ".local/state/holdfast-demo/c1.jsonl"))).toContain("offset");
  expect(journal.readAfter(0, 100, { types: ["usage.recorded"] }).map(({ data }) => data.key)).toEqual([
    expect.stringMatching(/^[\w-]{16}$/),
    expect.stringMatching(/^[\w-]{16}$/),
  ]);
});

test("a failed write is not treated as written", async () => {
  const { journal, start, create, facts } = open();
  create("c1");
  use("c1", 1);
  using reading = start();
  const full = vi.spyOn(journal, "append").mockImplementation(() => {
    throw new Error("database or disk is full");
  });
  await reading.read(SESSION);
  full.mockRestore();
  expect(facts()).toEqual([]);
  await reading.read(SESSION);
  expect(facts()).toEqual(["null fine 1"]);
});

test("usage of a conversation before the session began, such as a fork's original, does not count", async () => {
  const { start, create, facts } = open();
  create("c1");
  use("c1", -5);
  use("c1", 5, { at: null, input: 4 });
  use("c1", 6, { input: 2 });
  using reading = start();
  await reading.read(SESSION);
  expect(facts()).toEqual(["null fine 6"]);
});

test("all conversations of the session are read", async () => {
  const { journal, start, create, facts } = open();
  create("c1");
  journal.append({ type: "session.conversation_changed", actor: ACTOR, session: SESSION, data: { run: 1, conversation: "c2" } });
  use("c1", 1, { model: "one" });
  use("c2", 2, { model: "two" });
  using reading = start();
  await reading.read(SESSION);
  expect(facts()).toEqual(["null one 1", "null two 1"]);
});

test("usage is read at the end of a turn, again a moment later, and at the end of the run", async () => {
  const { journal, start, create, facts } = open();
  create("c1");
  // Long enough to write a call before the second reading, on a busy machine too.
  using reading = start({ againMs: 1000 });
  reading.begin(0);
  await reading.read(SESSION);
  journal.append(status("working", 1));
  use("c1", 2);
  await calm();
  expect(facts()).toEqual([]);
  journal.append(status("idle", 3));
  await calm();
  expect(facts()).toEqual(["1 fine 1"]);
  use("c1", 3, { input: 2 });
  await vi.waitFor(() => expect(facts()).toEqual(["1 fine 1", "1 fine 2"]));
  use("c1", 4, { input: 3 });
  journal.append(ended());
  await vi.waitFor(() => expect(facts()).toHaveLength(3));
});

test("a starting daemon reads live sessions and those that ended since the last daemon started", async () => {
  const { journal, start, create, facts } = open();
  create("c1");
  use("c1", 1);
  journal.append(ended());
  {
    using late = start();
    late.begin(journal.cursor.seq);
    await calm();
    expect(facts()).toEqual([]);
  }
  using reading = start();
  reading.begin(0);
  await vi.waitFor(() => expect(facts()).toEqual(["null fine 1"]));
});

test("a session without a source, without files, or that was removed is skipped", async () => {
  const { journal, start, create, facts } = open();
  using reading = start({ envOf: () => undefined });
  await reading.read(SESSION);
  create("c1", "aider");
  await reading.read(SESSION);
  journal.append(ended(), { type: "session.removed", actor: ACTOR, session: SESSION, data: { name: "api" } });
  create("c1");
  use("c1", 1);
  await reading.read(SESSION);
  expect(facts()).toEqual([]);
});

test("a large record is read in parts with pauses for other work; reading stops if the session is removed", async () => {
  const { journal, start, create, facts } = open();
  create("c1");
  for (let second = 1; second <= 3; second++) use("c1", second, { padding: "x".repeat(1 << 20) });
  using reading = start();
  const done = reading.read(SESSION);
  setImmediate(() => journal.append(ended(), { type: "session.removed", actor: ACTOR, session: SESSION, data: { name: "api" } }));
  await done;
  expect(facts().length).toBeGreaterThan(0);
  expect(facts().length).toBeLessThan(3);
});
