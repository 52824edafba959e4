import { describe, test } from "vitest";
import { LARGE_AGENTS } from "./agents.ts";
import { answersOnItsScreen } from "./answers.ts";

describe.each(LARGE_AGENTS)("%s", (agent) => {
  test("answers on its screen what the model says, and stop leaves no process of it", () => answersOnItsScreen(agent));
});
