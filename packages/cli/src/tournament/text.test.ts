import type { Principal, TournamentId } from "@holdfast/contract/ids";
import type { Check, Tournament, TournamentEntry } from "@holdfast/contract/tournament/tournament";
import { expect, test } from "vitest";
import { checkText, tournamentText } from "./text.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const check: Check = { command: "npm test", state: "failed", exitCode: 1, durationMs: 62_000, startedAt: "", log: "/w/check.log" };

function entry(number: number, more: Partial<TournamentEntry> = {}): TournamentEntry {
  const diff = { files: number, insertions: 10 * number, deletions: 0 };
  return { number, name: `fix-${number}`, agent: "claude", session: null, workspace: null, diff, check: null, ...more };
}

function text(entries: TournamentEntry[], width?: number): string[] {
  const tournament: Tournament = {
    id: "abcdefghij" as TournamentId,
    name: "fix",
    prompt: "make it fast\nand small",
    repo: "/app",
    base: "main",
    baseCommit: "0123456789abcdef",
    owner: "user:me" as Principal,
    startedAt: "2026-11-15T11:59:00Z",
    kept: null,
    keptAt: null,
    entries,
  };
  return tournamentText(tournament, { now, width }).split("\n");
}

test("each entry is a row, and empty columns are left out", () => {
  expect(text([entry(1), entry(2, { check })])).toEqual([
    "fix  from main at 0123456789, started 1m 00s ago",
    "make it fast",
    "",
    "NAME   AGENT   STATUS       TURNS  TIME  COMMITS  CHANGED         CHECK",
    "fix-1  claude  not started  -      -     -        1 file +10 -0   -",
    "fix-2  claude  not started  -      -     -        2 files +20 -0  failed (1) in 1m 02s",
    "",
    "fix-2: the check said: /w/check.log",
    "Keep one: holdfast keep fix-1",
  ]);
});

test("in a narrow terminal each entry is a column, with the result of its check", () => {
  const lines = text([entry(1), entry(2, { check })], 60);
  expect(lines.slice(3, 5)).toEqual(["         fix-1          fix-2", "agent    claude         claude"]);
  expect(lines).toContain("check    -              failed (1) in 1m 02s");
});

test("a running check has no duration yet", () => {
  expect(checkText({ ...check, state: "running", exitCode: null, durationMs: null })).toBe("running");
  expect(checkText({ ...check, state: "passed", exitCode: 0 })).toBe("passed in 1m 02s");
});
