import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

test.each([
  ["0", 0],
  ["5", 5000],
  ["500ms", 500],
  ["5s", 5000],
  ["1.5s", 1500],
  ["10m", 600_000],
  ["2h", 7_200_000],
  ["1d", 86_400_000],
])("%s is %d milliseconds", (text, ms) => {
  expect(parseDuration(text, "--grace")).toBe(ms);
});

test.each(["", "s", "-1", "1e3", "5 s", " 5", "5S", "1h30m", ".5s", "5.", "Infinity", "NaN", "٥s", "5\n"])(
  "%j is not a duration",
  (text) => {
    expect(() => parseDuration(text, "--grace")).toThrow(
      expect.objectContaining({ code: "usage", message: expect.stringContaining("--grace") }),
    );
  },
);

test.each([
  [0, "0s"],
  [999, "0s"],
  [59_999, "59s"],
  [60_000, "1m 00s"],
  [3_599_999, "59m 59s"],
  [3_600_000, "1h 00m"],
  [86_399_999, "23h 59m"],
  [86_400_000, "1d 0h"],
  [1_000_000_000, "11d 13h"],
])("%d milliseconds are %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
