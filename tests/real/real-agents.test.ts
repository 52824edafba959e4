/** Of the real agents, the two that every `npm test` drives; `npm run test:agents` does the same with the others. */
import { describe, test } from "vitest";
import { answersOnItsScreen } from "./answers.ts";
import { converses } from "./conversations.ts";
import { endsItsRequestAtEsc, runsWhatWasAllowed } from "./turns.ts";

describe.each(["qwen", "gemini"] as const)("%s", (agent) => {
  test("answers on its screen what the model says, and stop leaves no process of it", () => answersOnItsScreen(agent));

  test("a command that was allowed runs, and the model gets its result", () => runsWhatWasAllowed(agent));

  test("Esc in mid-turn ends the request to the model", () => endsItsRequestAtEsc(agent));

  test(
    "is talked to in its protocol: answers, tools, leave, interruption, usage, and it goes on when all was killed",
    () => converses(agent),
    240_000,
  );
});
