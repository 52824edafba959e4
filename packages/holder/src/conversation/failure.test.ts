import { expect, test } from "vitest";
import { PeerError } from "./connection.ts";
import { failureOf } from "./failure.ts";

test.each([
  [
    "as in the protocol",
    { code: -32603, message: "Internal error" },
    { code: "agent_failed", message: "Internal error", hint: null, retry: true },
  ],
  [
    "with details",
    { code: -32603, message: "Internal error", data: { details: "no such model" } },
    { message: "Internal error: no such model" },
  ],
  ["with a message in its data", { message: "Internal error", data: { message: "429" } }, { message: "Internal error: 429" }],
  ["with text as data", { message: "Failed", data: "quota" }, { message: "Failed: quota" }],
  [
    "without a login",
    { code: -32000, message: "Authentication required" },
    { code: "unauthenticated", hint: "log in with the agent's own program, then send the message again" },
  ],
  [
    "from our own agents",
    { code: -32603, message: "No key", data: { code: "no_key", hint: "set OPENAI_API_KEY", retry: false } },
    { code: "no_key", hint: "set OPENAI_API_KEY", retry: false },
  ],
  [
    "of an invalid form",
    { code: "x", message: 5, data: { details: 7, hint: [], retry: "no" } },
    { code: "agent_failed", message: "the agent answered with an error", hint: null, retry: true },
  ],
])("an error of an agent is described: %s", (_, error, told) => {
  expect(failureOf(new PeerError(error))).toMatchObject(told);
});

test("an error without a message is reported by its name", () => {
  expect(failureOf(new TypeError(""))).toMatchObject({ message: "TypeError" });
});
