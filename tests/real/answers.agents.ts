import { describe, test } from "vitest";
import type { AgentName } from "./agents.ts";
import { answersOnItsScreen } from "./answers.ts";

const AGENTS: AgentName[] = ["claude", "codex", "gemini", "opencode", "qwen"];

describe.each(AGENTS)("%s", (agent) => {
  test("answers on its screen what the model says, and stop leaves no process of it", () => answersOnItsScreen(agent));
});
