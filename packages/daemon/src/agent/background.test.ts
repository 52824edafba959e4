import { expect, test } from "vitest";
import { backgroundOf, modelWords, readCommonBackground } from "./background.ts";
import { USUAL_MODEL } from "./own-agent.ts";
import type { Profile } from "./profile.ts";
import { userProfiles } from "./user-profiles.ts";

const CLAUDE: Profile = { name: "claude", description: "Claude Code", kind: "terminal", command: ["claude"], modelFlag: "--model" };

test("[agents.background] applies to all agents, and an agent's own table wins (BG-18 mend)", () => {
  const table = {
    background: { model: "small", approval: "deny" },
    claude: { background: { approval: "ask" } },
    local: { model: { model: "qwen3-coder" } },
  };
  const common = readCommonBackground(table, "config.toml");
  expect(common).toEqual({ model: "small", approval: "deny" });
  const profiles = userProfiles(table, { file: "config.toml", builtIn: (name) => (name === "claude" ? CLAUDE : undefined) });
  expect(profiles.map(({ name }) => name)).toEqual(["claude", "local"]);
  const [claude = CLAUDE, local = CLAUDE] = profiles;
  expect(backgroundOf(claude, common)).toEqual({ model: "small", approval: "ask" });
  // The agent's own table names a model.
  expect(backgroundOf(local, common)).toEqual({ approval: "deny" });
  expect(backgroundOf({ ...CLAUDE, ours: { model: USUAL_MODEL } }, common)).toEqual(common);
  expect(backgroundOf(CLAUDE, {})).toEqual({});
});

test("an unknown policy is refused with its name (BG-18 mend)", () => {
  expect(() => readCommonBackground({ background: { approval: "perhaps" } }, "config.toml")).toThrow(/agents\.background\.approval/);
});

test("a terminal agent gets the model as a flag, unless the user chose one (BG-18 mend)", () => {
  expect(modelWords(CLAUDE, { model: "small", args: ["--verbose"] })).toEqual(["--model", "small"]);
  for (const args of [["-m", "x"], ["--model", "x"], ["--model=x"]]) expect(modelWords(CLAUDE, { model: "small", args })).toEqual([]);
  expect(modelWords(CLAUDE, { model: undefined, args: [] })).toEqual([]);
  const { modelFlag: _, ...without } = CLAUDE;
  expect(modelWords(without, { model: "small", args: [] })).toEqual([]);
});
