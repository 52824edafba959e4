import { expect, test } from "vitest";
import { nearText, reachedText, useText } from "./amounts.ts";

test.each([
  [{ limit: "turns", used: 1, allowed: 1 }, "1 of 1 turns", "turn limit 1 reached (1 used)"],
  [{ limit: "minutes", used: 30.00431, allowed: 30 }, "30 of 30 minutes", "minute limit 30 reached (30 used)"],
  [{ limit: "tokens", used: 210_000, allowed: 200_000 }, "210k of 200k tokens", "token limit 200k reached (210k used)"],
  [{ limit: "cost", used: 1.02, allowed: 1 }, "$1.02 of $1.00", "cost limit $1.00 reached ($1.02 used)"],
] as const)("%j as text", (use, words, reached) => {
  expect([useText(use), reachedText(use)]).toEqual([words, reached]);
});

test("a limit that is nearly reached shows how much is used (mend 15)", () => {
  expect(nearText({ limit: "cost", used: 0.829, allowed: 1 })).toBe("82 % of the cost limit used ($0.83 of $1.00)");
});
