import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { plain } from "./plain.ts";

test.each(["", "plain text", "~/a b", "Übung", "漢字", "🦭", "👨‍👩‍👧", "नमस्ते"])("%j is unchanged", (text) => {
  expect(plain(text)).toBe(text);
});

test.each([
  "\x1b]0;title\x07",
  "\x1b[2J",
  "\x9b2J",
  "a\nb",
  "a\rb",
  "a\tb",
  "\x00",
  "\x7f",
  "\u0085",
  "\u202eoverride",
  "\u2066isolate",
  "\u200bzero",
  "\ufeffmark",
  "\u2028line",
  "\u2029paragraph",
  "\u{e0001}tag",
])("%j cannot move, hide or reorder anything", (text) => {
  const shown = plain(text);
  expect(shown).toContain("\ufffd");
  expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  expect(shown.replaceAll("\u200d", "")).not.toMatch(/\p{Cf}/u);
});

test("no text leaves an escape sequence behind", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(0x10ffff), { maxLength: 40 }).map((points) => String.fromCodePoint(...points)),
      (text) => {
        const shown = plain(text);
        expect(stripVTControlCharacters(shown)).toBe(shown);
        expect(shown).not.toMatch(/\p{Cc}/u);
      },
    ),
  );
});
