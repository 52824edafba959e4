import type { Evidence } from "@holdfast/contract";
import { expect, test } from "vitest";
import { stillAsks } from "./taken.ts";

const BEFORE = "2026-01-01T00:00:00.000Z";
const ANSWERED = "2026-01-01T00:00:01.000Z";
const AFTER = "2026-01-01T00:00:02.000Z";
const attention = { for: "approval", text: "Bash: ls", until: null } as const;
const file = (at: string, claim: Evidence["claim"]): Evidence => ({ source: "state_file", at, claim, what: "it says so" });

test("an agent whose file and screen are unchanged since the answer still asks (truth 1)", () => {
  expect(stillAsks({ shown: null, file: file(BEFORE, { attention }) }, ANSWERED)).toBe(true);
  expect(stillAsks({ shown: attention, file: undefined }, ANSWERED)).toBe(true);
  expect(stillAsks({ shown: attention, file: file(BEFORE, { attention: null }) }, ANSWERED)).toBe(true);
});

test("a file written after the answer proves that it was taken, even if the agent waits for the next one (truth 1)", () => {
  expect(stillAsks({ shown: attention, file: file(AFTER, { attention: null }) }, ANSWERED)).toBe(false);
  expect(stillAsks({ shown: attention, file: file(AFTER, { attention }) }, ANSWERED)).toBe(false);
});

test("a screen without a dialog alone does not prove that the answer was taken (truth 1)", () => {
  expect(stillAsks({ shown: null, file: undefined }, ANSWERED)).toBeUndefined();
  expect(stillAsks({ shown: { ...attention, for: "rate_limit" }, file: undefined }, ANSWERED)).toBeUndefined();
});
