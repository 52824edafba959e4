import { expect, test } from "vitest";
import { timeSaid } from "./time-said.ts";

const at = (year: number, month: number, day: number, hour: number, minute = 0) => new Date(year, month - 1, day, hour, minute).getTime();
const NOON = at(2026, 11, 15, 12, 30);

test.each([
  ["2:29pm", at(2026, 11, 15, 14, 29)],
  ["3pm", at(2026, 11, 15, 15)],
  ["9:41 AM.", at(2026, 11, 15, 9, 41)],
  ["12:05 AM", at(2026, 11, 16, 0, 5)],
  ["12pm", at(2026, 11, 15, 12)],
  ["23:59", at(2026, 11, 15, 23, 59)],
  ["Nov 16th, 2026 9:41 AM", at(2026, 11, 16, 9, 41)],
  ["Nov 18, 3pm", at(2026, 11, 18, 15)],
  ["Jan 2 at 8am", at(2027, 1, 2, 8)],
])("%s is parsed at noon of a day in November", (said, time) => {
  expect(timeSaid(said, NOON)).toBe(time);
});

test("a time that has just passed is not moved to tomorrow", () => {
  expect(timeSaid("11:55pm", at(2026, 11, 16, 0, 10))).toBe(at(2026, 11, 15, 23, 55));
});

test.each(["soon", "25:00", "3", "7:99pm", "Foo 3, 4pm"])("%s is not a time", (said) => {
  expect(timeSaid(said, NOON)).toBeUndefined();
});
