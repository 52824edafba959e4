/** Of the real agents, the two that every `npm test` drives; `npm run test:agents` does the same with the others. */
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

test("qwen in a terminal has the tools, too, and acts by them as its session", () => actsInATerminal("qwen"), 180_000);

test("gemini in a terminal has them where it takes settings from us", async () => {
  if (inRootsPlace()) await actsInATerminal("gemini");
}, 180_000);

test("gemini in a terminal has them everywhere once mcp install has told it, and acts by them as its session", async () => {
  await actsInATerminal("gemini", { install: true });
}, 180_000);
