import { expect, test } from "vitest";
import { editDistance } from "./edit-distance.ts";

test.each([
  ["", "", 0],
  ["same", "same", 0],
  ["", "abc", 3],
  ["recordng", "recording", 1],
  ["recroding", "recording", 1],
  ["agee", "age", 1],
  ["kitten", "sitting", 3],
])("%j and %j are %d apart, either way", (a, b, distance) => {
  expect([editDistance(a, b), editDistance(b, a)]).toEqual([distance, distance]);
});
