import { expect, test } from "vitest";
import { widthOf } from "./fit.ts";

test.each([
  ["abc", 3],
  ["", 0],
  ["漢字", 4],
  ["e\u0301", 1],
  ["🦭", 2],
  ["é–…", 3],
  ["한글", 4],
  ["ｆｕｌｌ", 8],
  ["नमस्ते", 4],
  ["\u{20000}", 2],
])("%j takes %d cells", (text, width) => {
  expect(widthOf(text)).toBe(width);
});
