import { expect, test } from "vitest";
import { steady } from "./steady.ts";

test.each([
  ["claude", "✻ Pondering… (3s · esc to interrupt)", "✶ Pondering… (4s · esc to interrupt)"],
  ["gemini, whose words are drawn at random", "⠙ Warming up the hamsters (esc to cancel, 3s)", "⠹ Herding cats (esc to cancel, 1m 3s)"],
  ["opencode", "■■⬝⬝ 12s esc interrupt", "⬝■■⬝ 13s esc interrupt"],
  ["codex", "• Working (59s • esc to interrupt)", "• Working (1m 00s • esc to interrupt)"],
  ["Amazon Q", "⠋ Thinking...", "⠙ Thinking..."],
  ["a retry", "Retrying in 9s · attempt 2/10", "Retrying in 8s · attempt 2/10"],
  ["a clock", "main  12:01:59", "main  12:02:00"],
])("a redraw of %s is not progress (mend 12)", (_, before, after) => {
  expect(steady(["said", before])).toBe(steady(["said", after]));
});

test.each([
  ["a growing token count", "(3s · ↓ 15 tokens · esc to interrupt)", "(3s · ↓ 16 tokens · esc to interrupt)"],
  ["a new word of the answer", "the answer is", "the answer is 42"],
  ["output of a tool", "compiled 3 of 90 files", "compiled 4 of 90 files"],
])("%s is progress (mend 12)", (_, before, after) => {
  expect(steady([before])).not.toBe(steady([after]));
});
