import { expect, test } from "vitest";
import { editDistance, isSimilar } from "./edit-distance.ts";

test.each([
  ["", "", 0],
  ["same", "same", 0],
  ["", "abc", 3],
  ["recordng", "recording", 1],
  ["recroding", "recording", 1],
  ["agee", "age", 1],
  ["kitten", "sitting", 3],
])("%j and %j have distance %d in both directions", (a, b, distance) => {
  expect([editDistance(a, b), editDistance(b, a)]).toEqual([distance, distance]);
});

test.each([
  ["biuld", "build", true],
  ["claud", "claude", true],
  ["nme", "name", true],
  ["stat", "status", true],
  ["completions", "completion", true],
  ["name", "no-setup", false],
  ["name", "base", false],
  ["lss", "ls", true],
  ["e2", "g1", false],
  ["constructor", "control", false],
  ["zzzzzz", "build", false],
  ["x", "a", false],
  ["", "build", false],
])("%j is similar to %j: %s", (a, b, similar) => {
  expect([isSimilar(a, b), isSimilar(b, a)]).toEqual([similar, similar]);
});
