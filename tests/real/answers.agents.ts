import { describe, test } from "vitest";
import { AGENT_NAMES } from "./agents.ts";
import { answersOnItsScreen } from "./answers.ts";

describe.each(AGENT_NAMES)("%s", (agent) => {
  test("answers on its screen what the model says, and stop leaves no process of it", () => answersOnItsScreen(agent));
});
