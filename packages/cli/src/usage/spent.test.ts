import type { Sums } from "@holdfast/contract/usage/usage";
import { expect, test } from "vitest";
import { contextText, costCell, costText, formatCost, formatTokens, tokensCell, tokensOf, tokensText } from "./spent.ts";

function sums(more: Partial<Sums> = {}): Sums {
  return {
    turns: 3,
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    unknownTokens: 0,
    cost: null,
    unknownCosts: 0,
    estimated: false,
    ...more,
  };
}

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1k"],
  [12_345, "12.3k"],
  [99_960, "100k"],
  [200_000, "200k"],
  [999_499, "999k"],
  [999_500, "1M"],
  [1_234_567, "1.2M"],
  [2_345_678_901, "2346M"],
])("%d tokens are %s", (count, text) => {
  expect(formatTokens(count)).toBe(text);
});

test.each([
  [0, "$0.00"],
  [1.2, "$1.20"],
  [0.014, "$0.01"],
  [0.0042, "$0.0042"],
  [0.00001, "$0.000010"],
  [0.0000004, "<$0.000001"],
  [1234.5, "$1234.50"],
])("%d dollars are %s", (dollars, text) => {
  expect(formatCost(dollars)).toBe(text);
});

test("an unknown value is a question mark, and an incomplete sum is marked as a minimum", () => {
  expect(costCell(sums({ unknownCosts: 1, estimated: false }))).toBe("?");
  expect(costCell(sums({ cost: 1.2, unknownCosts: 3, estimated: false }))).toBe("≥$1.20");
  expect(costCell(sums({ cost: 1.2 }))).toBe("$1.20");
  expect(tokensCell(0, sums({ unknownTokens: 1 }))).toBe("?");
  expect(tokensCell(10, sums({ unknownTokens: 1 }))).toBe("≥10");
  expect(tokensCell(10, sums())).toBe("10");
});

test("costs, tokens and context are shown as text", () => {
  expect(costText(sums({ cost: 1.2, unknownCosts: 3, estimated: false }))).toBe("at least $1.20, 3 turns of unknown cost");
  expect(costText(sums({ unknownCosts: 1, estimated: false }))).toBe("1 turn of unknown cost");
  expect(costText(sums({ cost: 2 }))).toBe("$2.00");
  expect(tokensText(sums({ input: 12_300, output: 400 }))).toBe("12.3k in, 400 out");
  expect(tokensText(sums({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, unknownTokens: 2 }))).toBe(
    "at least 1 in, 2 out, 4 into a cache, 3 from a cache; 2 turns did not report all tokens",
  );
  expect(contextText({ used: 45_000, size: 200_000 })).toBe("45k of 200k (23 %)");
  expect(contextText({ used: 45_000, size: 0 })).toBe("45k");
  expect(tokensOf(sums({ input: 1, output: 2, cacheRead: 100, cacheWrite: 4 }))).toBe(7);
});
