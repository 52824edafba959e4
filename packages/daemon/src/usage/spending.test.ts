import type { Principal, SessionId, UsageBy, UsageRecord } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { Journal } from "../journal/journal.ts";
import { sessionsProjection } from "../projection/sessions.ts";
import { UsageQueries, usageDraft, usageProjection } from "../projection/usage.ts";
import { Prices } from "./prices.ts";
import { Spending } from "./spending.ts";

const A = { id: "aaaaaaaaaa" as SessionId, name: "api", agent: "claude" };
const B = { id: "bbbbbbbbbb" as SessionId, name: "web", agent: "codex" };

function open() {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [sessionsProjection, usageProjection], machineName: "box" });
  const queries = new UsageQueries(db);
  const prices = new Prices({ fine: { input: 1, output: 10, cacheRead: 0, cacheWrite: 2 } });
  const spending = new Spending({ queries, prices });
  const use = (session: typeof A, more: Partial<UsageRecord> & { at?: string } = {}) => {
    const usage = { run: 1, turn: "1", model: "fine", input: 1000, output: 100, cacheRead: 50, cacheWrite: 0, cost: null, context: null };
    journal.append(usageDraft(session, { ...usage, source: "transcript", key: null, ...more } as UsageRecord));
  };
  const by = (what: UsageBy, more: { since?: string; within?: SessionId[]; session?: SessionId; timeZone?: string } = {}) =>
    spending.report({ by: what, timeZone: "UTC", ...more });
  const anew = () => new Spending({ queries, prices });
  return { journal, spending, anew, use, by };
}

test("a session's sum grows with each fact, and is null before the first", () => {
  const { spending, use } = open();
  expect(spending.of(A.id)).toBeNull();
  use(A);
  expect(spending.of(A.id)).toEqual({
    turns: 1,
    input: 1000,
    output: 100,
    cacheRead: 50,
    cacheWrite: 0,
    unknownTokens: 0,
    cost: 0.002,
    unknownCosts: 0,
    estimated: false,
    context: null,
  });
  expect(spending.of(A.id)).toBe(spending.of(A.id));
  use(A, { turn: "2", context: { used: 5, size: 10 } });
  use(A, { turn: "2" });
  expect(spending.of(A.id)).toMatchObject({ turns: 2, input: 3000, cost: 0.006, context: { used: 5, size: 10 } });
  expect(spending.of(B.id)).toBeNull();
});

test("an incremental sum equals a full sum, for any number of sessions", () => {
  const { spending, anew, use } = open();
  const many = Array.from({ length: 120 }, (_, n) => ({
    id: `s${String(n).padStart(9, "a")}` as SessionId,
    name: `s${n}`,
    agent: "codex",
  }));
  for (const round of [1, 2, 3]) {
    for (const [n, session] of many.entries()) {
      const model = n % 7 === 0 ? "unheard of" : "fine";
      use(session, { turn: String(round % 2), model, input: n, context: round === 2 ? { used: n, size: 100 } : null });
      if (n % 3 !== round % 3) expect(spending.of(session.id)).toEqual(anew().of(session.id));
    }
    for (const { id } of many) expect(spending.of(id)).toEqual(anew().of(id));
  }
});

test("the agent's own cost wins over the price list", () => {
  const { spending, use } = open();
  use(A, { cost: 1.5 });
  use(A, { cost: 0, turn: "2" });
  expect(spending.of(A.id)).toMatchObject({ cost: 1.5, unknownCosts: 0, estimated: false });
});

test("turns with unknown cost or tokens are counted, each once, and not as 0", () => {
  const { spending, use, by } = open();
  use(A, { model: "scripted" });
  expect(spending.of(A.id)).toMatchObject({ cost: null, unknownCosts: 1, unknownTokens: 0 });
  use(A, { model: "scripted" });
  use(A, { turn: "2", output: null });
  use(A, { turn: "3", model: null, cost: 0.5, input: null, output: null });
  expect(spending.of(A.id)).toMatchObject({ turns: 3, cost: 0.5, unknownCosts: 2, unknownTokens: 2, input: 3000, output: 200 });
  expect(by("model").unpriced).toEqual(["scripted"]);
  use(A, { turn: "4", model: null });
  expect(by("model").unpriced).toEqual(["scripted", null]);
});

test("usage after a journal position is reported separately", () => {
  const { journal, spending, use } = open();
  use(A);
  const { seq } = journal.cursor;
  expect(spending.since(A.id, seq)).toBeNull();
  use(A, { turn: "2", input: 7 });
  use(B);
  expect(spending.since(A.id, seq)).toMatchObject({ turns: 1, input: 7 });
});

test("by agent, model and session the most expensive row comes first, and the total includes all rows", () => {
  const { use, by } = open();
  use(A);
  use(B, { model: "scripted", input: 5 });
  use(B, { turn: "2", input: 9_000_000 });
  const rows = (what: UsageBy) => by(what).rows.map(({ key, label, turns, cost }) => [key, label, turns, cost]);
  expect(rows("agent")).toEqual([
    ["codex", null, 2, 9.001],
    ["claude", null, 1, 0.002],
  ]);
  expect(rows("model")).toEqual([
    ["fine", null, 2, 9.003],
    ["scripted", null, 1, null],
  ]);
  expect(rows("session")).toEqual([
    [B.id, "web", 2, 9.001],
    [A.id, "api", 1, 0.002],
  ]);
  expect(by("session").total).toMatchObject({ turns: 3, cost: 9.003, unknownCosts: 1, estimated: false });
  expect(rows("group")).toEqual([[null, null, 3, 9.003]]);
  expect(by("session", { within: [A.id] }).rows).toHaveLength(1);
  expect(by("session", { session: B.id }).rows).toHaveLength(1);
});

test("without prices, the row with the most tokens comes first", () => {
  const { use, by } = open();
  use(A, { model: "small" });
  use(A, { model: "large", cacheWrite: 10_000, turn: "2" });
  expect(by("model").rows.map(({ key }) => key)).toEqual(["large", "small"]);
});

test("turns are listed in the order of their reports, whatever their names", () => {
  const { use, by } = open();
  for (const turn of ["9", "10", null, "lxi3lwy35d", "9"]) use(A, { turn });
  expect(by("turn").rows.map(({ key, label }) => [key, label])).toEqual([
    [`${A.id}/1/9`, "api, turn 9"],
    [`${A.id}/1/10`, "api, turn 10"],
    [null, null],
    [`${A.id}/1/lxi3lwy35d`, "api, turn lxi3lwy35d"],
  ]);
});

test("a day begins at midnight of the requested time zone", () => {
  const { use, by } = open();
  use(A, { at: "2026-11-14T23:30:00.000Z" });
  use(A, { at: "2026-11-15T00:30:00.000Z" });
  use(A, { at: "2026-11-15T18:20:00.000Z" });
  const days = (timeZone: string) => by("day", { timeZone }).rows.map(({ key, turns }) => `${key} ${turns}`);
  expect(days("UTC")).toEqual(["2026-11-14 1", "2026-11-15 1"]);
  expect(days("Europe/Berlin")).toEqual(["2026-11-15 1"]);
  expect(days("Asia/Kathmandu")).toEqual(["2026-11-15 1", "2026-11-16 1"]);
  expect(by("day", { since: "2026-11-15T00:00:00.000Z" })).toMatchObject({ since: "2026-11-15T00:00:00.000Z", total: { input: 2000 } });
});

test("the actor of a usage fact is the daemon, and the fact names its session", () => {
  const draft = usageDraft(A, { run: 1 } as UsageRecord);
  expect(draft).toMatchObject({ actor: "daemon" as Principal, session: A.id, data: { agent: "claude", name: "api" } });
});
