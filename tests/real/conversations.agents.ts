import { describe, test } from "vitest";
import { LARGE_AGENTS } from "./agents.ts";
import { converses } from "./conversations.ts";

/** Some take half a minute to start on a machine that does other things too, and here each starts twice. */
const SLOW_MS = 300_000;

describe.each(LARGE_AGENTS)("%s", (agent) => {
  test(
    "is talked to in its protocol: answers, tools, leave, interruption, usage, and it goes on when all was killed",
    () => converses(agent),
    SLOW_MS,
  );
});
