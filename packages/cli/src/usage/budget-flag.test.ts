import { useText } from "@holdfast/contract/usage/amounts";
import { expect, test } from "vitest";
import { parseBudget } from "./budget-flag.ts";
import { budgetText, exceededText } from "./budget-text.ts";

test.each([
  ["turns=10,minutes=30,tokens=200k,cost=2.50", { turns: 10, minutes: 30, tokens: 200_000, cost: 2.5 }],
  ["cost=$5", { cost: 5 }],
  ["tokens=1.5M, minutes=0.5", { tokens: 1_500_000, minutes: 0.5 }],
  ["turns=off", { turns: null }],
])("--budget %s", (text, budget) => {
  expect(parseBudget(text)).toEqual(budget);
});

test.each([
  ["", "--budget is empty"],
  ["turns=10,", "--budget is empty"],
  ["turns", '--budget does not take "turns"'],
  ["weight=3", '--budget does not take "weight=3"'],
  ["turns=0", '--budget takes an amount of turns, or off, not "0"'],
  ["cost=much", '--budget takes an amount of cost, or off, not "much"'],
  ["turns=1.5", "--budget takes a whole number of turns, not 1.5"],
  ["cost=-1", '--budget takes an amount of cost, or off, not "-1"'],
])("--budget %j is refused", (text, message) => {
  expect(() => parseBudget(text)).toThrow(message);
});

test("without the flag there is no budget", () => {
  expect(parseBudget(undefined)).toBeUndefined();
});

test("a budget is shown as text", () => {
  const limits = [
    { limit: "turns" as const, allowed: 10, used: 3 },
    { limit: "minutes" as const, allowed: 30, used: 1.234 },
    { limit: "tokens" as const, allowed: 200_000, used: null },
    { limit: "cost" as const, allowed: 2.5, used: 1.2 },
  ];
  expect(budgetText({ limits, exceeded: null })).toBe("3 of 10 turns, 1.2 of 30 minutes, ? of 200k tokens, $1.20 of $2.50");
  expect(budgetText({ limits: [], exceeded: null })).toBe("no limits");
  expect(useText({ limit: "cost", used: 3, allowed: 2.5 })).toBe("$3.00 of $2.50");
  expect(useText({ limit: "minutes", used: 0.0417, allowed: 0.04 })).toBe("0.04 of 0.04 minutes");
  const exceeded = { limit: "turns" as const, used: 10, allowed: 10, at: "2026-11-15T00:00:00.000Z" };
  expect(exceededText({ name: "api", budget: { limits, exceeded } })).toBe(
    "turn limit 10 reached (10 used); allow more: holdfast resume api --budget turns=…",
  );
  expect([exceededText({ name: "api", budget: null }), exceededText({ name: "api", budget: { limits, exceeded: null } })]).toEqual([
    null,
    null,
  ]);
});
