import { expect, test } from "vitest";
import { formatCursor, parseCursor } from "./cursor.ts";

test("a cursor survives writing and reading", () => {
  const cursor = { epoch: "d7c0bc25", seq: 42 };
  expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
  expect(parseCursor("42")).toEqual({ epoch: undefined, seq: 42 });
  expect(parseCursor("0")).toEqual({ epoch: undefined, seq: 0 });
});

test.each(["", ":", "x", ":1", "x:", "-1", "1.5", "1e3", " 1", "1 ", "1\n", "a:b:1", "A:1", "0x10", "9".repeat(16), "٣"])(
  "%j is not a cursor",
  (text) => {
    expect(parseCursor(text)).toBeUndefined();
  },
);
