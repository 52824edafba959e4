import { expect, test } from "vitest";
import { amount, counted, durationMs, sizeBytes } from "./units.ts";

test.each([
  ["500ms", 500],
  ["5s", 5000],
  ["5", 5000],
  ["1.5m", 90_000],
  ["2h", 7_200_000],
  ["30d", 30 * 86_400_000],
])("%s is a duration of %i ms", (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test.each([
  ["64M", 64 * 2 ** 20],
  ["64MB", 64 * 2 ** 20],
  ["64MiB", 64 * 2 ** 20],
  ["1.5 G", 1.5 * 2 ** 30],
  ["450k", 450 * 1024],
  ["2T", 2 * 2 ** 40],
])("%s is a size of %i bytes", (text, bytes) => {
  expect(sizeBytes(text)).toBe(bytes);
});

test.each(["", "-1d", "1w", "d", "1 d", "1e3s", "off", "5M"])("%j is not a duration", (text) => {
  expect(durationMs(text)).toBeUndefined();
});

test.each(["", "64", "-1M", "M", "1P", "off", "5d", "1 000M"])("%j is not a size", (text) => {
  expect(sizeBytes(text)).toBeUndefined();
});

test.each([
  ["200", 200],
  ["2.5", 2.5],
  ["200k", 200_000],
  ["1.1M", 1_100_000],
  ["2G", 2_000_000_000],
])("%s is an amount of %d", (text, number) => {
  expect(amount(text)).toBe(number);
});

test.each(["", "-1", "k", "1T", "1e3", "off", "1 k"])("%j is not an amount", (text) => {
  expect(amount(text)).toBeUndefined();
});

test("one is singular, every other number is plural", () => {
  expect([counted(1, "session"), counted(0, "session"), counted(2, "process", "processes")]).toEqual([
    "1 session",
    "0 sessions",
    "2 processes",
  ]);
});
