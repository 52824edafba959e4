import { expect, test } from "vitest";
import { helpWidth, paragraphs, twoColumns, usageLines } from "./help-text.ts";

test("help is as wide as the terminal, and never wider than 100 columns", () => {
  expect(helpWidth({ isTTY: true, columns: 72 })).toBe(72);
  expect(helpWidth({ isTTY: true, columns: 200 })).toBe(100);
  expect(helpWidth({ isTTY: true, columns: 10 })).toBe(40);
  expect(helpWidth({ isTTY: false })).toBe(100);
});

test("paragraphs wrap between words, and samples of files keep their lines", () => {
  expect(paragraphs("one two three four\n\n  [workspace]\n  setup = 'npm ci && npm run build'\n\nfive", 12)).toEqual([
    "one two",
    "three four",
    "",
    "  [workspace]",
    "  setup = 'npm ci && npm run build'",
    "",
    "five",
  ]);
});

test("a usage line breaks between groups, never inside one", () => {
  expect(usageLines("holdfast x NAME [--best-of N [--agents A,B]] [--all]", 40)).toEqual([
    "  holdfast x NAME",
    "      [--best-of N [--agents A,B]]",
    "      [--all]",
  ]);
});

test("the right column wraps below itself, or below the left column if the terminal is narrow", () => {
  expect(twoColumns([["--name NAME", "the name of the session"]], 36)).toEqual([
    "  --name NAME  the name of the",
    "               session",
  ]);
  expect(twoColumns([["--name NAME", "the name of the session"]], 30)).toEqual([
    "  --name NAME",
    "          the name of the",
    "          session",
  ]);
});
