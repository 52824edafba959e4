import { expect, test } from "vitest";
import { checkName, NAME_LIMIT } from "./names.ts";

test.each(["a", "A", "7", "fix-login", "v1.2_3", "übung", "漢字", "a".repeat(NAME_LIMIT), "𝒳".repeat(NAME_LIMIT), "नमस्ते"])(
  "%s is a name",
  (name) => {
    expect(checkName(name)).toBe(name.normalize("NFC"));
  },
);

test.each([
  "",
  " ",
  "a b",
  "-a",
  ".a",
  "_a",
  "a/b",
  "../etc",
  "a:b",
  "a,b",
  "=a",
  "@a",
  "%a",
  "$a",
  "a;b",
  "a'b",
  'a"b',
  "a\nb",
  "a\tb",
  "a\0b",
  "\x1b[2J",
  "a\u200bb",
  "a\u202eb",
  "a\u00adb",
  "\ud800",
  "🦭",
  "a".repeat(NAME_LIMIT + 1),
  "\u0301a",
])("%j is not a name", (name) => {
  expect(() => checkName(name)).toThrow(expect.objectContaining({ code: "invalid_name", hint: expect.stringContaining("for example") }));
});

test("two Unicode encodings of a name are the same name", () => {
  expect(checkName("cafe\u0301")).toBe(checkName("caf\u00e9"));
});
