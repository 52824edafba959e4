import { expect, test } from "vitest";
import { parseSegmentName, segmentName, segmentNames, segmentPrefix } from "./segments.ts";

test("segments are found among other files, in the order of writing", () => {
  const files = [
    "output-001.000000",
    "output.1000000",
    "times.idx",
    "output.000002",
    "output.999999",
    "output.12",
    "xoutput.000001",
    "output-1.000000",
  ];
  expect(segmentNames(files).map(({ name }) => name)).toEqual(["output.000002", "output.999999", "output.1000000", "output-001.000000"]);
});

test("a segment name survives writing and reading", () => {
  for (const number of [0, 7, 1_234_567]) expect(parseSegmentName(segmentName(number))).toMatchObject({ generation: 0, number });
  expect(parseSegmentName(`${segmentPrefix(12)}000003`)).toEqual({ name: "output-012.000003", generation: 12, number: 3 });
});
