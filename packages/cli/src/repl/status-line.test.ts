import type { Session } from "@holdfast/contract/session/session";
import { expect, test } from "vitest";
import { statusParts, statusRow } from "./status-line.ts";

const spent = {
  turns: 2,
  input: 1200,
  output: 300,
  cacheRead: 0,
  cacheWrite: 0,
  unknownTokens: 0,
  cost: 0.02,
  unknownCosts: 0,
  context: { used: 45_000, size: 200_000 },
};
const session = (more: object = {}) => ({ name: "fix", spent, ...more }) as unknown as Session;
const settings = { mode: "ask", modes: [], model: "large", models: [], commands: [] };
const standing = { session: session(), settings, turns: 2, others: [], trouble: undefined };

test("the status line has turns, tokens, cost, context, mode, model and other people", () => {
  expect(statusParts({ ...standing, others: ["user:alice", "token:ci"] })).toEqual([
    "fix",
    "2 turns",
    "1.2k in 300 out",
    "$0.02",
    "context 23 %",
    "ask",
    "large",
    "with alice, token:ci",
  ]);
});

test("an unknown value is a question mark, never 0", () => {
  expect(statusParts({ ...standing, session: session({ spent: null }), settings: null, turns: 1 })).toEqual([
    "fix",
    "1 turn",
    "? tokens",
    "$?",
    "context ?",
  ]);
  const partly = { ...spent, cost: null, unknownTokens: 1, context: { used: 5000, size: 0 } };
  expect(statusParts({ ...standing, session: session({ spent: partly }), settings: null })).toEqual([
    "fix",
    "2 turns",
    "≥1.2k in ≥300 out",
    "$?",
    "context 5k",
  ]);
});

test("the status line reports that the chat connects, and that the daemon is gone", () => {
  expect(statusParts({ ...standing, session: undefined })).toEqual(["connecting …"]);
  expect(statusParts({ ...standing, session: undefined, trouble: "no daemon" })).toEqual(["no daemon"]);
  expect(statusParts({ ...standing, trouble: "no daemon" })[0]).toBe("no daemon");
});

test("parts that do not fit are dropped from the end", () => {
  expect(statusRow(["fix", "2 turns", "$0.02"], 40)).toBe("fix · 2 turns · $0.02");
  expect(statusRow(["fix", "2 turns", "$0.02"], 14)).toBe("fix · 2 turns");
  expect(statusRow(["a long name"], 6)).toBe("a lon…");
  expect(statusRow([], 6)).toBe("");
});
