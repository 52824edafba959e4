import { expect, test } from "vitest";
import { tokenClock } from "./token-clock.ts";

const NOON = Date.parse("2026-01-01T12:00:00Z");
const HOUR = 3_600_000;

test("a clock that is set back does not go back for tokens, and continues from there (mend 8)", () => {
  let [wall, steps] = [NOON, 0];
  const clock = tokenClock({ least: 0, wall: () => wall, steps: () => steps });
  expect(clock()).toBe(NOON);
  [wall, steps] = [NOON - 2 * HOUR, -2 * HOUR];
  expect(clock()).toBe(NOON);
  wall += HOUR;
  expect(clock()).toBe(NOON + HOUR);
});

test("a clock that was set back while no daemon ran does not go before the journal's last event (mend 8)", () => {
  const clock = tokenClock({ least: NOON, wall: () => NOON - HOUR, steps: () => 0 });
  expect(clock()).toBeGreaterThanOrEqual(NOON);
  expect(clock()).toBeLessThan(NOON + HOUR);
});

test("a clock that is set forward is followed (mend 8)", () => {
  const clock = tokenClock({ least: 0, wall: () => NOON + HOUR, steps: () => HOUR });
  expect(clock()).toBe(NOON + HOUR);
});
