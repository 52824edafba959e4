import { expect, test } from "vitest";
import { Profiles } from "./profiles/index.ts";
import { conversationIn, ownArguments, recognize } from "./recognize.ts";

const { all } = new Profiles();

test.each([
  [["claude"], "claude"],
  [["node", "--no-warnings", "/usr/local/bin/gemini", "-m", "x"], "gemini"],
  [["/usr/bin/node", "/opt/lib/qwen.js"], "qwen"],
  [["/home/u/.local/bin/codex", "resume", "abc"], "codex"],
  [["opencode", "-s", "x"], "opencode"],
  [["vim", "claude"], undefined],
  [["sh", "-c", "claude"], undefined],
  [["-zsh"], undefined],
  [["node"], undefined],
  [[], undefined],
])("%j is %s", (words, agent) => {
  expect(recognize(words, all)?.name).toBe(agent);
});

test("the conversation is read from the arguments that begin or resume one", () => {
  const [claude, codex] = ["claude", "codex"].map((name) => new Profiles().get(name));
  if (!claude || !codex) throw new Error("no profiles");
  expect(conversationIn(["claude", "--session-id", "1234-5678-9"], claude)).toBe("1234-5678-9");
  expect(conversationIn(["claude", "--resume=1234-5678-9"], claude)).toBe("1234-5678-9");
  expect(conversationIn(["claude", "--resume"], claude)).toBeNull();
  expect(conversationIn(["codex", "resume", "1234-5678-9"], codex)).toBe("1234-5678-9");
  expect(conversationIn(["codex", "resume", "--last-one"], codex)).toBeNull();
});

test("an interpreter and its script are not part of the agent's own arguments", () => {
  expect(ownArguments(["/bin/sh", "/usr/bin/claude"])).toEqual([]);
  expect(ownArguments(["node", "--flag", "/usr/bin/gemini", "-m", "x"])).toEqual(["-m", "x"]);
  expect(ownArguments(["claude", "-c"])).toEqual(["-c"]);
});
