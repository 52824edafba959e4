import { describe, test } from "vitest";
import { LARGE_AGENTS } from "./agents.ts";
import { inRootsPlace } from "./roots.ts";
import {
  asksAboutOtherHooks,
  followsItsChat,
  followsStatus,
  hasNoTurnWhileItStarts,
  isHungWhileItsModelHolds,
  isNotEndedByASubagent,
  leavesSomethingRunning,
} from "./status.ts";

describe.each(LARGE_AGENTS)("%s", (agent) => {
  test("is idle, working, waiting for a named approval, and idle again, also after Esc (NEW-03 agents)", () => followsStatus(agent));
});

test("codex keeps working in the same conversation after its subagent has ended", isNotEndedByASubagent);

test("codex has no turn while it starts with a resumed conversation (truth 11)", hasNoTurnWhileItStarts);

test("codex asks about a user's own hooks, and Holdfast reports it", asksAboutOtherHooks);

test("gemini takes hooks only in a directory that nobody but root can write to", async () => {
  await followsStatus("gemini", inRootsPlace());
});

test(
  "gemini: very short turns are seen, each message has its receipt, and /clear starts a conversation (truth 6, truth 7)",
  () => followsItsChat("gemini"),
  300_000,
);

test.each(["claude", "gemini"] as const)(
  "%s is hung while its model holds the answer back, although its spinner turns (mend 12)",
  (agent) => isHungWhileItsModelHolds(agent),
  300_000,
);

test.each(LARGE_AGENTS)("%s is reported with a background process until that ends (truth 4)", (agent) => leavesSomethingRunning(agent));
