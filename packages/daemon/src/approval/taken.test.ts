import type { Evidence } from "@holdfast/contract";
import { expect, test } from "vitest";
import { stillAsks } from "./taken.ts";

const BEFORE = "2026-01-01T00:00:00.000Z";
const ANSWERED = "2026-01-01T00:00:01.000Z";
const AFTER = "2026-01-01T00:00:02.000Z";
const attention = { for: "approval", text: "Bash: ls", until: null } as const;
const file = (at: string, claim: Evidence["claim"]): Evidence => ({ source: "state_file", at, claim, what: "it says so" });

test("an agent whose file and screen have not moved since the answer still asks (truth 1)", () => {
  expect(stillAsks({ shown: null, file: file(BEFORE, { attention }) }, ANSWERED)).toBe(true);
  expect(stillAsks({ shown: attention, file: undefined }, ANSWERED)).toBe(true);
  expect(stillAsks({ shown: attention, file: file(BEFORE, { attention: null }) }, ANSWERED)).toBe(true);
});

test("a file that was written since the answer proves that it was taken, also if it waits for the next (truth 1)", () => {
  expect(stillAsks({ shown: attention, file: file(AFTER, { attention: null }) }, ANSWERED)).toBe(false);
  expect(stillAsks({ shown: attention, file: file(AFTER, { attention }) }, ANSWERED)).toBe(false);
});

test("a screen without a dialog does not tell by itself that the answer was taken (truth 1)", () => {
  expect(stillAsks({ shown: null, file: undefined }, ANSWERED)).toBeUndefined();
  expect(stillAsks({ shown: { ...attention, for: "rate_limit" }, file: undefined }, ANSWERED)).toBeUndefined();
});
