import { expect, test } from "vitest";
import { checkpointArguments } from "./checkpoint-arguments.ts";

const here = process.cwd();

test.each([
  [[], 1, { ref: here, numbers: [] }],
  [["fix"], 1, { ref: "fix", numbers: [] }],
  [["3"], 1, { ref: here, numbers: [3] }],
  [["#3"], 1, { ref: here, numbers: [3] }],
  [["fix", "3"], 1, { ref: "fix", numbers: [3] }],
  [["7", "3"], 1, { ref: "7", numbers: [3] }],
  [["2", "3"], 2, { ref: here, numbers: [2, 3] }],
  [["fix", "2", "3"], 2, { ref: "fix", numbers: [2, 3] }],
  [["3"], 0, { ref: "3", numbers: [] }],
])("%j is read with at most %i numbers", (args, most, expected) => {
  expect(checkpointArguments({ args }, "diff", most)).toEqual(expected);
});

test.each([
  [["fix", "x"], 1],
  [["fix", "0"], 1],
  [["fix", "1", "2"], 1],
  [["fix", "1"], 0],
])("%j with at most %i numbers is refused", (args, most) => {
  expect(() => checkpointArguments({ args }, "diff", most)).toThrow(expect.objectContaining({ code: "usage" }));
});
