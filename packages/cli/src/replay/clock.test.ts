import { expect, test } from "vitest";
import { PlayClock } from "./clock.ts";

test("the clock runs at its speed, stops while paused, and can jump", () => {
  let now = 1000;
  const clock = new PlayClock(4, () => now);
  now += 50;
  expect([clock.position, clock.running]).toEqual([0, false]);
  clock.run();
  now += 100;
  expect([clock.position, clock.until(600)]).toEqual([400, 50]);
  clock.toggle();
  now += 5000;
  expect(clock.position).toBe(400);
  clock.toggle();
  clock.speed = 0.5;
  now += 100;
  expect([clock.position, clock.until(400)]).toEqual([450, 0]);
  clock.jump(10_000);
  now += 10;
  expect(clock.position).toBe(10_005);
});
