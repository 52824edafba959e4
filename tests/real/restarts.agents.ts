import { describe, test } from "vitest";
import { AGENT_NAMES } from "./agents.ts";
import { goesOnWithItsConversation, startsAnewWithoutATurn, survivesTheDaemon } from "./restarts.ts";

describe.each(AGENT_NAMES)("%s", (agent) => {
  test("a daemon that was killed in mid-turn knows again what it does, of the same conversation, and counts no turn twice (SYM-03 agents)", () =>
    survivesTheDaemon(agent));
  test("killed itself, it goes on with its conversation in its next run", () => goesOnWithItsConversation(agent));
  test("killed before its first turn, it begins anew", () => startsAnewWithoutATurn(agent));
});
