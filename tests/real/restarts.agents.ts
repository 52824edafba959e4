import { describe, test } from "vitest";
import { AGENT_NAMES } from "./agents.ts";
import { countsTurnsNobodySaw, goesOnWithItsConversation, startsAnewWithoutATurn, survivesTheDaemon } from "./restarts.ts";

/** Some take half a minute to start on a machine that does other things too, and here each starts twice. */
const SLOW_MS = 300_000;

describe.each(AGENT_NAMES)("%s", (agent) => {
  test(
    "a daemon that was killed in mid-turn knows again what it does, of the same conversation, and counts no turn twice (SYM-03 agents)",
    () => survivesTheDaemon(agent),
    SLOW_MS,
  );
  test("killed itself, it goes on with its conversation in its next run", () => goesOnWithItsConversation(agent), SLOW_MS);
  test("killed before its first turn, it begins anew", () => startsAnewWithoutATurn(agent), SLOW_MS);
});

test(
  "gemini: turns that nobody saw are counted from its own files, and its conversation goes on (mend 11)",
  () => countsTurnsNobodySaw("gemini"),
  SLOW_MS,
);
