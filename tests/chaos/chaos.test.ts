/** `npm run chaos` runs more and longer histories. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { histories } from "./history.ts";
import { fileFor, page } from "./page.ts";

test("the record matches the running processes after any actions and faults", { timeout: 300_000 }, async () => {
  const faults = new Map<string, number>();
  await fc.assert(histories({ longest: 25, faults }), { numRuns: 4 });
  expect(faults.size).toBeGreaterThan(0);
});

test("the full run writes its page, a shorter one only to the given file", () => {
  expect(fileFor({})).toMatch(/docs\/CHAOS\.md$/);
  for (const shorter of [{ histories: "3" }, { longest: "5" }, { seed: "1" }]) expect(fileFor(shorter)).toBeUndefined();
  expect(fileFor({ histories: "3", out: "page.md" })).toBe("page.md");
  expect(() => page({ faults: new Map([["a fault without a word", 1]]), count: 1, longest: 1, seed: 1, seconds: 1 })).toThrow(
    "says nothing",
  );
});
