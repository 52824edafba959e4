import { expect, test } from "vitest";
import { limitsKeptFor, readBudget } from "./budget.ts";
import { Profiles } from "./profiles/index.ts";
import { userProfiles } from "./user-profiles.ts";

const PLACE = { file: "config.toml", path: "budget" };

test("limits are numbers, or texts such as 200k", () => {
  expect(readBudget({ turns: 10, minutes: 0.5, tokens: "200k", cost: 2.5 }, PLACE)).toEqual({
    turns: 10,
    minutes: 0.5,
    tokens: 200_000,
    cost: 2.5,
  });
  expect(readBudget({ tokens: "1.5M" }, PLACE)).toEqual({ tokens: 1_500_000 });
  expect([readBudget(undefined, PLACE), readBudget({}, PLACE)]).toEqual([{}, {}]);
});

test.each([
  [{ turns: 0 }, "config.toml: budget.turns is not a limit: 0"],
  [{ turns: 1.5 }, "config.toml: budget.turns is not a limit: 1.5"],
  [{ tokens: "lots" }, 'config.toml: budget.tokens is not a limit: "lots"'],
  [{ cost: true }, "config.toml: budget.cost is not a limit: true"],
  [{ minutes: -1 }, "config.toml: budget.minutes is not a limit: -1"],
  [[], "config.toml: budget is not a table"],
  [3, "config.toml: budget is not a table"],
])("%j is refused with the key's name", (table, message) => {
  expect(() => readBudget(table, PLACE)).toThrow(message);
});

test("an agent in config.toml can have its own budget", () => {
  const builtIn = (name: string) => new Profiles(() => []).find(name);
  const [own] = userProfiles({ demo: { budget: { turns: 7 } } }, { file: "config.toml", builtIn });
  expect(own).toMatchObject({ name: "demo", budget: { turns: 7 } });
  expect(() => userProfiles({ demo: { budget: { turns: "x" } } }, { file: "config.toml", builtIn })).toThrow("agents.demo.budget.turns");
});

test.each([
  ["demo", "terminal", ["turns", "minutes", "tokens", "cost"]],
  ["shell", "shell", ["minutes"]],
  ["aider", "terminal", ["minutes"]],
  ["q", "terminal", ["turns", "minutes"]],
  ["q", "conversation", ["turns", "minutes", "tokens", "cost"]],
] as const)("for %s as a %s the enforceable limits are %j", (agent, kind, limits) => {
  expect(limitsKeptFor(new Profiles(() => []).get(agent), kind)).toEqual(limits);
});
