/** The other real agents, as together.test.ts has qwen and gemini. */
import { describe, test } from "vitest";
import { actsInATerminal, worksTogether } from "./together.ts";

describe.each(["claude", "codex", "opencode"] as const)("%s", (agent) => {
  test("starts a child by Holdfast's tools, shares a value with it, talks with it and stops it", () => worksTogether(agent), 360_000);
});

test.each(["claude", "codex", "opencode"] as const)(
  "%s has them in a terminal, too, and acts by them as its session",
  (agent) => actsInATerminal(agent),
  180_000,
);
