/** The two real agents that every `npm test` drives; `npm run test:agents` runs the same tests with the others. */
import { describe, test } from "vitest";
import { inRootsPlace } from "./roots.ts";
import { actsInATerminal, worksTogether } from "./together.ts";

describe.each(["qwen", "gemini"] as const)("%s", (agent) => {
  test(
    "starts a child by Holdfast's tools, shares a value with it, talks with it and stops it (GRP-10 together, BG-06 together)",
    () => worksTogether(agent),
    360_000,
  );
});

test("qwen in a terminal has the tools too, and acts as its session", () => actsInATerminal("qwen"), 180_000);

test("gemini in a terminal has the tools if it accepts Holdfast's settings", async () => {
  if (inRootsPlace()) await actsInATerminal("gemini");
}, 180_000);

test("gemini in a terminal has the tools everywhere after mcp install, and acts as its session", async () => {
  await actsInATerminal("gemini", { install: true });
}, 180_000);
