import { expect, test } from "vitest";
import { USAGE_ENDPOINTS } from "./endpoints.ts";
import { UsageRecord } from "./usage.ts";

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

test("unknown usage is null rather than 0, and negative usage is refused", () => {
  expect(UsageRecord.parse(RECORD)).toEqual(RECORD);
  for (const wrong of [{ input: -1 }, { output: undefined }, { cost: -0.1 }, { source: "guess" }, { input: 1.5 }])
    expect(UsageRecord.safeParse({ ...RECORD, ...wrong }).success, JSON.stringify(wrong)).toBe(false);
});

test("days start in the given valid time zone, else in UTC", () => {
  const { query } = USAGE_ENDPOINTS.getUsage;
  expect(query.parse({})).toEqual({ by: "day", timeZone: "UTC" });
  expect(query.parse({ timeZone: "Europe/Berlin", by: "model" })).toMatchObject({ timeZone: "Europe/Berlin", by: "model" });
  for (const wrong of [{ timeZone: "Mars/Olympus" }, { by: "week" }, { since: "yesterday" }])
    expect(query.safeParse(wrong).success).toBe(false);
});
