import { describe, test } from "vitest";
import { AGENT_NAMES } from "./agents.ts";
import { deliversMessages } from "./delivery.ts";

describe.each(AGENT_NAMES)("%s", (agent) => {
  test(
    "messages arrive once and in order, and nothing is garbled or approved (GRP-06 agents, BG-06 agents)",
    {
      timeout: 300_000,
    },
    () => deliversMessages(agent),
  );
});
