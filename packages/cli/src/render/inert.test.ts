import { expect, test } from "vitest";
import { inert, withoutReordering } from "./inert.ts";
import { RecordingText } from "./recording-text.ts";

const REORDERING = [
  ..."\u202a\u202b\u202c\u202d\u202e",
  ..."\u2066\u2067\u2068\u2069",
  ..."\u061c\u200e\u200f",
  ..."\u2028\u2029",
  ..."\u206a\u206f\ufff9\ufffb",
];

test.each(REORDERING.map((character) => [`U+${character.charCodeAt(0).toString(16)}`, character]))(
  "%s is replaced in rendered text",
  (_, character) => {
    expect([inert(`a${character}b`), withoutReordering(`a${character}b`)]).toEqual(["a\ufffdb", "ab"]);
    using text = new RecordingText({ columns: 40, rows: 5 });
    text.write(Buffer.from(`a${character}b\r\nnext`));
    expect(text.finish()).toEqual(["a\ufffdb", "next"]);
  },
);

test.each(["plain", "שלום", "مرحبا", "می\u200cخواهم", "👨‍👩‍👧", "e\u0301", "漢字"])("%s is unchanged", (word) => {
  expect([inert(word), withoutReordering(word)]).toEqual([word, word]);
});
