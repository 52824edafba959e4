import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { diffText } from "./diff.ts";

const DIFF = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n one\n+\x1b]52;c;eA==\x07two\t\x1b[8mhidden\x1b[1A\r\n-\u202ethree\n";

beforeEach(() => {
  vi.stubEnv("NO_COLOR", "");
  vi.stubEnv("TERM", "xterm");
});
afterEach(() => vi.unstubAllEnvs());

test("a diff on a terminal has colours and no escape sequences of its files", () => {
  expect(diffText(DIFF, { isTTY: true }).split("\n")).toEqual([
    "\x1b[1mdiff --git a/x b/x\x1b[0m",
    "\x1b[1m--- a/x\x1b[0m",
    "\x1b[1m+++ b/x\x1b[0m",
    "\x1b[36m@@ -1 +1,2 @@\x1b[0m",
    " one",
    "\x1b[32m+\ufffd]52;c;eA==\ufffdtwo\t\ufffd[8mhidden\ufffd[1A\r\x1b[0m",
    "\x1b[31m-\ufffdthree\x1b[0m",
    "",
  ]);
});

test("statistics on a terminal have colours", () => {
  expect(diffText(" a | b.txt | 3 ++-\n 1 file changed\n", { isTTY: true })).toBe(
    " a | b.txt | 3 \x1b[32m++\x1b[0m\x1b[31m-\x1b[0m\n 1 file changed\n",
  );
});

test("a diff for a pipe stays as it is", () => {
  expect(diffText(DIFF, {})).toBe(DIFF);
});
