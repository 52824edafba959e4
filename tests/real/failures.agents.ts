import { describe, test } from "vitest";
import { AGENT_NAMES } from "./agents.ts";
import { isIdleAfterARefusal, namesALimitInAnAnswer, waitsForALimit, waitsOnceForALimit } from "./failures.ts";

describe.each(AGENT_NAMES)("%s", (agent) => {
  test("is idle again after the model refused", () => isIdleAfterARefusal(agent));
});

describe.each(["claude", "codex", "gemini", "opencode"] as const)("%s", (agent) => {
  test("waits for a used-up limit, with the end time if it reports one", () => waitsForALimit(agent));
});

test.each(["codex", "opencode"] as const)(
  "%s waits once for a temporary limit, and its next turn does not wait (truth 2, truth 3)",
  (agent) => waitsOnceForALimit(agent),
);

test("opencode without its plugin waits once for a temporary limit (truth 2)", () => waitsOnceForALimit("opencode", { hooks: false }));

test("qwen reports a limit in the middle of an answer, and its next turn does not (truth 9)", () => namesALimitInAnAnswer("qwen"));
