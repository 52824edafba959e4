/** `npm run chaos:together` takes other numbers. */
import { expect, test } from "vitest";
import { together } from "./together.ts";

test("sixty-four members share a thousand keys and send ten thousand messages under daemon kills: none is lost, duplicated or out of order (GRP-11 together, GRP-05 together, NEW-01 together)", {
  timeout: 900_000,
}, async () => {
  const outcome = await together({ members: 64, conversations: 4, keys: 1000, messages: 10_000, random: Math.random, killMs: [200, 5000] });
  expect(outcome).toMatchObject({ sent: 10_000, keys: 1000, wrong: [] });
  expect(outcome.deliveries).toBe(outcome.handedOver);
  expect(outcome.kills).toBeGreaterThan(5);
});
