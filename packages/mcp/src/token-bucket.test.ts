import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

test("a bucket passes a burst, then its rate per second, and counts dropped items", () => {
  let now = 0;
  const bucket = new TokenBucket({ burst: 5, perSecond: 1, clock: () => now });
  const taken = (times: number) => Array.from({ length: times }, () => bucket.take()).filter(Boolean).length;
  expect(taken(20)).toBe(5);
  now = 999;
  expect(taken(1)).toBe(0);
  now = 1000;
  expect(taken(3)).toBe(1);
  now = 61_000;
  expect(taken(100)).toBe(5);
  expect([bucket.passed, bucket.dropped]).toEqual([11, 113]);
});

test("a rate below one per second passes one item after that time", () => {
  let now = 0;
  const bucket = new TokenBucket({ burst: 1, perSecond: 0.1, clock: () => now });
  expect(bucket.take()).toBe(true);
  now = 9_000;
  expect(bucket.take()).toBe(false);
  now = 10_000;
  expect(bucket.take()).toBe(true);
});
