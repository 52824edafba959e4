import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directory, turn, writeTranscript } from "../agents/test-client.ts";
import { recall } from "./recall.ts";

test("of the runs before, and of no other, an agent that remembers nothing is told what was said", async () => {
  using runs = directory();
  writeTranscript(runs.path, 1, turn("what is red?", "a colour"));
  writeTranscript(runs.path, 2, turn("and blue?", "another"), '{"v":1,"torn');
  writeTranscript(runs.path, 3, turn("of this run", "and its answer"));
  const { words, leftOut } = await recall(join(runs.path, "3"), "and green?");
  for (const said of ["what is red?", "a colour", "and blue?", "another", "and green?"]) expect(words).toContain(said);
  expect(words.indexOf("what is red?")).toBeLessThan(words.indexOf("and blue?"));
  expect(words).not.toContain("of this run");
  expect(leftOut).toBeNull();
});

test("of many turns the first and the last are told, and which are left out is said", async () => {
  using runs = directory();
  writeTranscript(runs.path, 1, Array.from({ length: 20 }, (_, at) => turn(`question ${at + 1}.`, `answer ${at + 1}.`)).flat());
  const { words, leftOut } = await recall(join(runs.path, "2"), "and now?");
  expect(words).toContain("question 2.");
  expect(words).not.toContain("question 3.");
  expect(words).not.toContain("answer 10.");
  expect(words).toContain("answer 11.");
  expect(leftOut).toBe("turns 3 to 10 are omitted from the agent's context; the transcript has everything");
});

test("of a first run nothing is told but the words", async () => {
  using runs = directory();
  mkdirSync(join(runs.path, "1"));
  expect(await recall(join(runs.path, "1"), "hello")).toEqual({ words: "hello", leftOut: null });
});
