import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directory, turn, writeTranscript } from "../../test/test-client.ts";
import { recall } from "./recall.ts";

test("an agent without a memory gets the conversation of earlier runs, and only of those", async () => {
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

test("a long conversation is recalled by its first and last turns, with a note of the omitted ones", async () => {
  using runs = directory();
  writeTranscript(runs.path, 1, Array.from({ length: 20 }, (_, at) => turn(`question ${at + 1}.`, `answer ${at + 1}.`)).flat());
  const { words, leftOut } = await recall(join(runs.path, "2"), "and now?");
  expect(words).toContain("question 2.");
  expect(words).not.toContain("question 3.");
  expect(words).not.toContain("answer 10.");
  expect(words).toContain("answer 11.");
  expect(leftOut).toBe("turns 3 to 10 are omitted from the agent's context; the transcript has everything");
});

test("a first run recalls only the prompt itself", async () => {
  using runs = directory();
  mkdirSync(join(runs.path, "1"));
  expect(await recall(join(runs.path, "1"), "hello")).toEqual({ words: "hello", leftOut: null });
});
