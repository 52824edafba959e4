/** Of the real agents, the two that every `npm test` drives; `npm run test:agents` does the same with the others. */
import { describe, test } from "vitest";
import { actsInATerminal, worksTogether } from "./together.ts";

describe.each(["qwen", "gemini"] as const)("%s", (agent) => {
  test(
    "starts a child by Holdfast's tools, shares a value with it, talks with it and stops it (GRP-10 together, BG-06 together)",
    () => worksTogether(agent),
    360_000,
  );
});

test("qwen in a terminal has the tools, too, and acts by them as its session", () => actsInATerminal("qwen"), 180_000);
