/** The tests of together.test.ts for the other real agents. */
import { describe, test } from "vitest";
import { actsInATerminal, worksTogether } from "./together.ts";

describe.each(["claude", "codex", "opencode"] as const)("%s", (agent) => {
  test("starts a child by Holdfast's tools, shares a value with it, talks with it and stops it", () => worksTogether(agent), 360_000);
});

test.each(["claude", "codex", "opencode"] as const)(
  "%s has the tools in a terminal too, and acts as its session",
  (agent) => actsInATerminal(agent),
  180_000,
);
