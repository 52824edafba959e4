import { expect, test } from "vitest";
import { describedLines, listedLines } from "./candidate.ts";

const FOUND = [
  { word: "fix", about: "waiting 3s · fix the login" },
  { word: "fix-10", about: "" },
];

test("zsh and fish get a tab and the description after each word that has one", () => {
  expect(describedLines(FOUND)).toEqual(["fix\twaiting 3s · fix the login", "fix-10"]);
});

test("a description stays on its line and cannot act on the terminal", () => {
  const [line = ""] = describedLines([{ word: "fix", about: `a\tb\nc\u001b[2J${"x".repeat(200)}` }]);
  expect(line).toMatch(/^fix\ta b c\ufffd\[2Jx+…$/);
  expect(line.length).toBeLessThan(90);
});

test("bash gets aligned lines that fit the terminal, and a single word without a description", () => {
  expect(listedLines(FOUND, 80)).toEqual(["fix     (waiting 3s · fix the login)", "fix-10"]);
  expect(listedLines(FOUND, 30)[0]).toHaveLength(29);
  expect(listedLines(FOUND, 18)).toEqual(["fix", "fix-10"]);
  expect(listedLines(FOUND.slice(0, 1), 80)).toEqual(["fix"]);
});
