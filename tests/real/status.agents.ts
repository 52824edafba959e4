import { describe, test } from "vitest";
import { LARGE_AGENTS } from "./agents.ts";
import { inRootsPlace } from "./roots.ts";
import {
  asksAboutOtherHooks,
  followsItsChat,
  followsStatus,
  isHungWhileItsModelHolds,
  isNotEndedByASubagent,
  leavesSomethingRunning,
} from "./status.ts";

describe.each(LARGE_AGENTS)("%s", (agent) => {
  test("is idle, works, waits for an approval that it names, and is idle again; Esc makes it idle too (NEW-03 agents)", () =>
    followsStatus(agent));
});

test("codex works on when a subagent of its has ended, in the same conversation", isNotEndedByASubagent);

test("codex asks about hooks that are a user's own, and that is told", asksAboutOtherHooks);

test("gemini takes hooks where nobody but root could have put them, and only there", async () => {
  await followsStatus("gemini", inRootsPlace());
});

test(
  "gemini: turns shorter than a look are seen, each message has its receipt, and /clear begins a conversation (truth 6, truth 7)",
  () => followsItsChat("gemini"),
  300_000,
);

test.each(["claude", "gemini"] as const)(
  "%s is hung while its model holds the answer back, although its spinner turns (mend 12)",
  (agent) => isHungWhileItsModelHolds(agent),
  300_000,
);

test.each(LARGE_AGENTS)("%s is known to have left something running until that ends (truth 4)", (agent) => leavesSomethingRunning(agent));
