import { describe, test } from "vitest";
import { AGENT_NAMES } from "./agents.ts";
import { countsTurnsNobodySaw, goesOnWithItsConversation, startsAnewWithoutATurn, survivesTheDaemon } from "./restarts.ts";

/** Some agents take half a minute to start on a busy machine, and each starts twice here. */
const SLOW_MS = 300_000;

describe.each(AGENT_NAMES)("%s", (agent) => {
  test(
    "after a daemon kill during a turn the next one knows its state and conversation, and counts no turn twice (SYM-03 agents)",
    () => survivesTheDaemon(agent),
    SLOW_MS,
  );
  test("after its own kill it resumes its conversation in its next run", () => goesOnWithItsConversation(agent), SLOW_MS);
  test("killed before its first turn, it starts a new conversation", () => startsAnewWithoutATurn(agent), SLOW_MS);
});

test(
  "gemini: unobserved turns are counted from its own files, and its conversation continues (mend 11)",
  () => countsTurnsNobodySaw("gemini"),
  SLOW_MS,
);
