import fc from "fast-check";
import { expect, test } from "vitest";
import { asTyped } from "./same-words.ts";

test("colours, keys and other control characters of a message are removed; its lines and letters stay", () => {
  expect(asTyped("\x1b[31mred\x1b[0m\r\n\ttab\0 \x1b]0;title\x07x\x1b\x03 é 🦭")).toBe("red\n\ttab x é 🦭");
  expect(asTyped("a\x1b[20\x1b[201~1~b\x9b201~c")).not.toContain("\x1b");
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !/(?![\n\t])\p{Cc}/u.test(asTyped(text))));
});
