import { expect, test } from "vitest";
import { RenderedLines } from "./rendered-lines.ts";

const SIZES = [{ offset: 0, columns: 80, rows: 24 }];

/** The lines that a follower shows for these pieces, with a note where output was deleted (null). */
function followed(...pieces: (string | Buffer | null)[]): string[] {
  using lines = new RenderedLines({ sizes: SIZES, from: 0 });
  const shown: string[] = [];
  let offset = 0;
  for (const piece of pieces) {
    offset += piece?.length ?? 1000;
    if (piece === null) lines.skip(offset);
    else lines.write(typeof piece === "string" ? Buffer.from(piece) : piece);
    shown.push(...lines.ready({ follow: true, atRest: piece === null }));
    if (piece === null) shown.push("(deleted)");
  }
  return [...shown, ...lines.finish()];
}

test("the rest of a partly deleted line is not shown, in any number of pieces", () => {
  expect(followed("one\r\n", null, "rn\r\ntwo\r\n")).toEqual(["one", "(deleted)", "two"]);
  expect(followed("one\r\n", null, "r", "n", "\r", "\ntwo\r\n")).toEqual(["one", "(deleted)", "two"]);
});

test("no empty line follows deleted output, wherever the output before it ended", () => {
  expect(followed("one\r\n", null, "torn\r\ntwo\r\n")).toEqual(["one", "(deleted)", "two"]);
  expect(followed("one\r\nhal", null, "torn\r\ntwo\r\n")).toEqual(["one", "hal", "(deleted)", "two"]);
  expect(followed("one\r\n\r\n", null, "torn\r\ntwo\r\n")).toEqual(["one", "(deleted)", "two"]);
});

test.each(["\x1b]0;a title", "\x1b[3", "\x1bP1$r", "\xe2\x82"])(
  "an unfinished %j before deleted output swallows nothing after it",
  (begun) => {
    expect(followed(Buffer.from(`one\r\n${begun}`, "latin1"), null, "torn\r\ntwo\r\n")).toEqual(["one", "(deleted)", "two"]);
  },
);

test("a torn line longer than the limit is shown from there on, because drawing programs may never end a line", () => {
  const long = "x".repeat(6000);
  expect(followed("one\r\n", null, long.slice(0, 3000), long.slice(3000), "\r\ntwo\r\n")).toEqual([
    "one",
    "(deleted)",
    "x".repeat(6000 - 4096),
    "two",
  ]);
});
