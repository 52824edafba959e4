import { expect, test } from "vitest";
import { UsageRecord } from "./usage.ts";
import { USAGE_ENDPOINTS } from "./usage-endpoints.ts";

const RECORD = {
  run: 1,
  turn: "1",
  model: "fine",
  input: 1,
  output: null,
  cacheRead: 0,
  cacheWrite: 0,
  cost: null,
  context: null,
  source: "transcript",
  key: null,
};

test("what is not known is null, which is not 0; less than nothing was never used", () => {
  expect(UsageRecord.parse(RECORD)).toEqual(RECORD);
  for (const wrong of [{ input: -1 }, { output: undefined }, { cost: -0.1 }, { source: "guess" }, { input: 1.5 }])
    expect(UsageRecord.safeParse({ ...RECORD, ...wrong }).success, JSON.stringify(wrong)).toBe(false);
});

test("days begin where somebody says, in a time zone that there is; else in Greenwich", () => {
  const { query } = USAGE_ENDPOINTS.getUsage;
  expect(query.parse({})).toEqual({ by: "day", timeZone: "UTC" });
  expect(query.parse({ timeZone: "Europe/Berlin", by: "model" })).toMatchObject({ timeZone: "Europe/Berlin", by: "model" });
  for (const wrong of [{ timeZone: "Mars/Olympus" }, { by: "week" }, { since: "yesterday" }])
    expect(query.safeParse(wrong).success).toBe(false);
});
