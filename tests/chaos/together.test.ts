/** `npm run chaos:together` has ten thousand messages. */
import { expect, test } from "vitest";
import { together } from "./together.ts";

test("sixty-four members share a thousand keys and speak to each other while the daemon is killed: nothing is lost, nothing comes twice, each is heard in order (GRP-11 together, GRP-05 together, NEW-01 together)", {
  timeout: 240_000,
}, async () => {
  const outcome = await together({ members: 64, conversations: 2, keys: 1000, messages: 1000, random: Math.random, killMs: [300, 3000] });
  expect(outcome).toMatchObject({ sent: 1000, keys: 1000, wrong: [] });
  expect(outcome.deliveries).toBe(outcome.handedOver);
  expect(outcome.kills).toBeGreaterThan(1);
});
