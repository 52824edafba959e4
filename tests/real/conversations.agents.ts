import { describe, test } from "vitest";
import { converses } from "./conversations.ts";

/** Some take half a minute to start on a machine that does other things too, and here each starts twice. */
const SLOW_MS = 300_000;

describe.each(["claude", "codex", "opencode"] as const)("%s", (agent) => {
  test(
    "is talked to in its protocol: answers, tools, leave, interruption, usage, and it goes on when all was killed",
    () => converses(agent),
    SLOW_MS,
  );
});
