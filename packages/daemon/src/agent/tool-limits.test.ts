import { expect, test } from "vitest";
import { choiceWords } from "./background.ts";
import { Profiles } from "./profiles/index.ts";
import { enforcedIn, enforcesTools, toolMeta, toolWords } from "./tool-limits.ts";
import { permits, toolRule, unenforcedNote } from "./tool-rule.ts";

const profiles = new Profiles();
const claude = profiles.get("claude");
const RULE = { allowed: ["Read", "mcp__tickets__find"], denied: ["Bash"] };
const DEFINITION = { "holdfast-role": { description: "The role of this session", prompt: "", tools: RULE.allowed } };

test("a rule is absent if nothing is restricted", () => {
  expect(toolRule({})).toBeUndefined();
  expect(toolRule({ disallowedTools: [] })).toBeUndefined();
  expect(toolRule({ tools: [] })).toEqual({ allowed: [], denied: [] });
  expect(toolRule({ disallowedTools: ["Bash"] })).toEqual({ allowed: null, denied: ["Bash"] });
});

test("claude gets the tools of a role on its command line and with the protocol", () => {
  const words = (rule: typeof RULE | { allowed: null; denied: string[] }, args: string[] = []) => toolWords(claude, { rule, args });
  expect(words(RULE)).toEqual(["--agents", JSON.stringify(DEFINITION), "--agent", "holdfast-role", "--disallowedTools=Bash"]);
  expect(words({ allowed: null, denied: ["Bash", "Write"] })).toEqual(["--disallowedTools=Bash,Write"]);
  expect(toolMeta(claude, RULE)).toEqual({
    claudeCode: { options: { agents: DEFINITION, agent: "holdfast-role", disallowedTools: ["Bash"] } },
  });
  expect(toolMeta(claude, undefined)).toBeUndefined();
});

test("the user's own agent replaces the tools of the role", () => {
  for (const args of [["--agent", "mine"], ["--agent=mine"], ["--agents", "{}"]]) {
    expect(toolWords(claude, { rule: RULE, args })).toEqual([]);
    expect(enforcesTools(claude, { isChat: false, args })).toBe(false);
  }
});

test("only agents with a proven mechanism enforce tools", () => {
  const where = Object.fromEntries(profiles.all.map((profile) => [profile.name, enforcedIn(profile)]));
  const { claude, model, ...others } = where;
  expect([claude, model]).toEqual([["terminal", "conversation"], ["conversation"]]);
  for (const kinds of Object.values(others)) expect(kinds).toEqual([]);
});

test("a rule permits what it allows and does not deny", () => {
  expect(["Read", "Bash", "Write", "mcp__tickets__find"].map((tool) => permits(RULE, tool))).toEqual([true, false, false, true]);
  expect(["Read", "Bash"].map((tool) => permits({ allowed: null, denied: ["Bash"] }, tool))).toEqual([true, false]);
});

test("a note names the tools that an agent does not enforce", () => {
  expect(unenforcedNote("codex", { ...RULE, enforced: false })).toBe(
    "codex does not enforce the tools of its role (only Read, mcp__tickets__find; not Bash); approvals decide what it may do",
  );
  expect(unenforcedNote("codex", { allowed: [], denied: [], enforced: false })).toContain("(only none)");
  expect(unenforcedNote("claude", { ...RULE, enforced: true })).toBeUndefined();
  expect(unenforcedNote("claude", { allowed: ["Read", "Bash(git log:*)"], denied: [], enforced: true })).toBe(
    "claude does not enforce the text in parentheses: Bash(git log:*)",
  );
});

test("a role's model and mode become flags, unless the user chose others", () => {
  const choice = { model: "haiku", mode: "plan" };
  expect(choiceWords(claude, { ...choice, args: [] })).toEqual(["--model", "haiku", "--permission-mode", "plan"]);
  expect(choiceWords(claude, { ...choice, args: ["--permission-mode=default"] })).toEqual(["--model", "haiku"]);
  expect(choiceWords(claude, { ...choice, args: ["--dangerously-skip-permissions", "--model", "opus"] })).toEqual([]);
  expect(choiceWords(profiles.get("codex"), { ...choice, args: [] })).toEqual(["--model", "haiku"]);
  expect(choiceWords(undefined, { ...choice, args: [] })).toEqual([]);
});
