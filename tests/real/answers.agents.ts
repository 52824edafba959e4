import { describe, test } from "vitest";
import { LARGE_AGENTS } from "./agents.ts";
import { answersOnItsScreen } from "./answers.ts";

describe.each(LARGE_AGENTS)("%s", (agent) => {
  test("answers on its screen with the model's text, and stop leaves no process", () => answersOnItsScreen(agent));
});
