/** The two real agents that every `npm test` drives; `npm run test:agents` runs the same tests with the others. */
import { describe, test } from "vitest";
import { answersOnItsScreen } from "./answers.ts";
import { converses } from "./conversations.ts";
import { endsItsRequestAtEsc, runsWhatWasAllowed } from "./turns.ts";

describe.each(["qwen", "gemini"] as const)("%s", (agent) => {
  test("answers on its screen with the model's text, and stop leaves no process", () => answersOnItsScreen(agent));

  test("an allowed command runs, and the model gets its result", () => runsWhatWasAllowed(agent));

  test("Esc during a turn ends the request to the model", () => endsItsRequestAtEsc(agent));

  test(
    "works over its protocol: answers, tools, approvals, interruption, usage, and it continues after a kill of everything",
    () => converses(agent),
    240_000,
  );
});
