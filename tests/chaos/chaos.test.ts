/** `npm run chaos` has longer histories, and more of them. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { histories } from "./history.ts";

test("whatever is done and whatever dies, the record and what really runs agree", { timeout: 300_000 }, async () => {
  const faults = new Map<string, number>();
  await fc.assert(histories({ longest: 25, faults }), { numRuns: 4 });
  expect(faults.size).toBeGreaterThan(0);
});
