import fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf, plainText, unfinished } from "./lines.ts";

test("lines are complete across chunk boundaries, each with the offset of its end", async () => {
  const bytes = Buffer.from("one\r\nzwölf\n\nrest");
  const chunked = async function* () {
    for (const at of [0, 2, 4, 8, 15]) yield bytes.subarray(at, { 0: 2, 2: 4, 4: 8, 8: 15, 15: bytes.length }[at]);
  };
  expect(await Array.fromAsync(linesOf(chunked()))).toEqual([
    { text: "one", end: 5 },
    { text: "zwölf", end: 12 },
    { text: "", end: 13 },
    { text: "rest", end: 17 },
  ]);
});

test("an endless line arrives in parts of limited size (mend 4)", async () => {
  const endless = async function* () {
    for (let i = 0; i < 80; i++) yield Buffer.alloc(64 * 1024, "x");
    yield Buffer.from("\nnext\n");
  };
  const lines = await Array.fromAsync(linesOf(endless()));
  expect(lines.map(({ text, end }) => [text.length, end])).toEqual([
    ...[1, 2, 3, 4, 5].map((n) => [1 << 20, n << 20]),
    [0, (5 << 20) + 1],
    [4, (5 << 20) + 6],
  ]);
});

test.each([
  ["a\r\nb\r\n", "a\nb\n"],
  ["\u001b[31mred\u001b[0m\n", "red\n"],
  ["10 %\r50 %\r100 %\n", "100 %\n"],
  ["\u001b]0;title\u0007text", "text"],
  ["a\tb\u0008", "a\tb"],
  ["", ""],
])("%j is %j in plain text", (given, plain) => {
  expect(plainText(given)).toBe(plain);
});

test("splitting bytes anywhere never breaks a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(), (text, at) => {
      const bytes = Buffer.from(text);
      const cut = bytes.length === 0 ? 0 : at % (bytes.length + 1);
      const first = bytes.subarray(0, cut);
      const whole = first.subarray(0, first.length - unfinished(first));
      expect(whole.toString() + bytes.subarray(whole.length).toString()).toBe(bytes.toString());
    }),
  );
});
