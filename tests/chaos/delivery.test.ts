/** `npm run chaos:delivery` sends a thousand messages. */
import { expect, test } from "vitest";
import { deliver } from "./delivery.ts";

test("under random daemon kills each message reaches its agent once and in order, and no receipt is ahead of the truth (GRP-06 agents)", {
  timeout: 240_000,
}, async () => {
  const outcome = await deliver({ sends: 120, sessions: 4, random: Math.random, killMs: [50, 4000] });
  expect(outcome).toMatchObject({ sends: 120, states: { replied: 120 }, wrong: [] });
  expect(outcome.kills).toBeGreaterThan(1);
});
