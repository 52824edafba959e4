import { describe, test } from "vitest";
import { AGENT_NAMES } from "./agents.ts";
import { followsStatus } from "./status.ts";

describe.each(AGENT_NAMES)("%s", (agent) => {
  test("is idle, works, waits for an approval that it names, and is idle again; Esc makes it idle too", () => followsStatus(agent));
});
