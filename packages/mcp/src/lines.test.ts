import { expect, test } from "vitest";
import { linesOf } from "./lines.ts";

test("lines come whole over the borders of chunks, each with the offset of its end", async () => {
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
