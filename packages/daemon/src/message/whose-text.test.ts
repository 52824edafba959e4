import { expect, test } from "vitest";
import { headed } from "../agent/heading.ts";
import { whoseText } from "./whose-text.ts";

const shown = (text: string) => ({ is: "draft", text }) as const;
const long = "fix the login bug, and then write a test for it that fails without the fix";

const peer = { id: "aaaaaaaaaa", nonce: "0f1e2d3c", name: "parent", group: null, role: null };

test("text in a composer is ours if it is complete, however it is wrapped, or a paste placeholder", () => {
  expect(whoseText(shown("fix the login bug"), "fix the login bug\n")).toBe("ours");
  expect(whoseText(shown("first line\n  second line"), "first line\nsecond line")).toBe("ours");
  expect(whoseText(shown("first line ⏎ second line"), "first line\nsecond line")).toBe("ours");
  for (const mark of ["[Pasted text #3 +120 lines]", "[Pasted Content 20079 chars] #2", "[Pasted Text: 266 lines]", "[Pasted ~4 lines]"])
    expect(whoseText(shown(mark), long)).toBe("ours");
  expect(whoseText(shown("…then write a test for it that fails without the fix"), long)).toBe("ours");
});

test.each([
  "say 👨\u200d👩\u200d👧 é שלום \ufffd evil \ufffd     tab",
  "say 👨\u200d👩\u200d👧 e\u0301 שלום  evil   tab",
  "say 👨👩👧 e\u0301 שלום \u202e evil \u202c tab",
])("text with zero-width or composed characters is still ours however it is shown: %j", (text) => {
  expect(whoseText(shown(text), "say 👨\u200d👩\u200d👧 e\u0301 שלום \u202e evil \u202c\t tab\x07")).toBe("ours");
  expect(whoseText(shown(`x${text}`), "say 👨\u200d👩\u200d👧 e\u0301 שלום \u202e evil \u202c\t tab")).toBe("mixed");
});

test("a part that anybody may have typed is not ours, nor is our text with other letters around it", () => {
  expect(whoseText(shown("fix"), long)).toBe("other");
  expect(whoseText(shown("x"), "hello")).toBe("other");
  expect(whoseText(shown(`please ${long}`), long)).toBe("mixed");
  expect(whoseText(shown("see [Pasted text #3 +120 lines]"), long)).toBe("mixed");
  expect(whoseText({ is: "empty" }, long)).toBe("nothing");
  expect(whoseText(undefined, long)).toBe("none");
});

test("a message from a session is ours by any name that the session had", () => {
  expect(
    whoseText(shown(headed({ ...peer, name: "parent" }, long).replace("\n", "\n  ")), headed({ ...peer, name: "renamed" }, long)),
  ).toBe("ours");
  expect(whoseText(shown(headed({ ...peer, name: "parent" }, "something else")), headed({ ...peer, name: "renamed" }, long))).toBe("other");
  expect(whoseText(shown(`x ${headed({ ...peer, name: "parent" }, long)}`), headed({ ...peer, name: "parent" }, long))).not.toBe("ours");
});

test("a message from a session is ours even if the beginning of its heading does not fit", () => {
  const whole = headed(peer, "the result is 7");
  expect(whoseText(shown(`…${whole.slice(12)}`), whole)).toBe("ours");
  expect(whoseText(shown(`…${headed({ ...peer, name: "other" }, "the result is 7").slice(12)}`), whole)).toBe("other");
});
