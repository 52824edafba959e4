import { expect, test } from "vitest";
import { countChange, diffLines } from "./diff.ts";
import { painter } from "./paint.ts";

const paint = painter(false);
const change = (old: string | null, fresh: string) => ({ path: "a", old, new: fresh });

test.each([
  ["a changed line in the middle", "a\nb\nc\n", "a\nx\nc\n", ["  a", "- b", "+ x", "  c"]],
  ["an added line at the end", "a\n", "a\nb\n", ["  a", "+ b"]],
  ["a removed line at the beginning", "a\nb\n", "b\n", ["- a", "  b"]],
  ["a new file", null, "a\nb", ["+ a", "+ b"]],
  ["an emptied file", "a\n", "", ["- a"]],
  ["nothing for equal texts", "a\n", "a\n", []],
  [
    "changes at both ends, with the middle omitted",
    "1\n2\n3\n4\n5\n6\n7\n8\n9",
    "x\n2\n3\n4\n5\n6\n7\n8\ny",
    ["- 1", "+ x", "  2", "  3", "  …", "  7", "  8", "- 9", "+ y"],
  ],
  ["a moved line as removed and added", "a\nb\nc\nd", "b\nc\nd\na", ["- a", "  b", "  c", "  d", "+ a"]],
])("a diff shows %s", (_, old, fresh, lines) => {
  expect(diffLines(change(old, fresh), paint)).toEqual(lines);
});

test("unchanged lines after the last change are cut without a mark", () => {
  expect(diffLines(change("1\n2\n3\n4\n5\n6", "x\n2\n3\n4\n5\n6"), paint)).toEqual(["- 1", "+ x", "  2", "  3"]);
});

test("added and removed lines are counted", () => {
  expect(countChange(change("a\nb\nc", "a\nx\ny\nc"))).toEqual({ added: 2, removed: 1 });
});

test("files too large for a line comparison are counted as replaced", () => {
  const lines = (name: string) => Array.from({ length: 600 }, (_, i) => `${name}${i}`).join("\n");
  expect(countChange(change(lines("a"), lines("b")))).toEqual({ added: 600, removed: 600 });
});

test("lines of a file cannot control the terminal", () => {
  expect(diffLines(change(null, "\x1b[2Jx\ty"), paint)).toEqual(["+ x    y"]);
});
