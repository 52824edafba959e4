import { describe, test } from "vitest";
import { LARGE_AGENTS } from "./agents.ts";
import { converses } from "./conversations.ts";

/** Some agents take half a minute to start on a busy machine, and each starts twice here. */
const SLOW_MS = 300_000;

describe.each(LARGE_AGENTS)("%s", (agent) => {
  test(
    "works over its protocol: answers, tools, approvals, interruption, usage, and it continues after a kill of everything",
    () => converses(agent),
    SLOW_MS,
  );
});
