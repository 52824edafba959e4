import { expect, test } from "vitest";
import { parseSince } from "./since.ts";

const NOW = new Date(2026, 10, 15, 15, 0, 0);
const since = (text: string) => new Date(parseSince(text, "--since", NOW));

test("a past time is a duration, a time of day, a day, or a day with a time", () => {
  expect(since("2h")).toEqual(new Date(2026, 10, 15, 13));
  expect(since("14:30")).toEqual(new Date(2026, 10, 15, 14, 30));
  expect(since("23:10")).toEqual(new Date(2026, 10, 14, 23, 10));
  expect(since("2026-11-01")).toEqual(new Date(2026, 10, 1));
  expect(since("2026-11-01 08:15")).toEqual(new Date(2026, 10, 1, 8, 15));
  expect(since("2026-11-01T08:15:00Z").toISOString()).toBe("2026-11-01T08:15:00.000Z");
});

test.each(["yesterday", "25:00", "2026-13-40", "", "-5m"])("%j is refused with a hint", (text) => {
  expect(() => parseSince(text, "--since", NOW)).toThrow(
    expect.objectContaining({ code: "usage", hint: expect.stringContaining("14:30") }),
  );
});
