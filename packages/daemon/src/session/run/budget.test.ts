import { expect, test } from "vitest";
import type { Profile } from "../../agent/profile.ts";
import { Profiles } from "../../agent/profiles/index.ts";
import { budgetFor, changedBudget } from "./budget.ts";

const profiles = new Profiles(() => []);
const demo: Profile = profiles.get("demo");
const terminal = { profile: demo, kind: "terminal" as const };
const shell = { profile: profiles.get("shell"), kind: "shell" as const };
const untested = { profile: profiles.get("aider"), kind: "terminal" as const };

test("a requested limit overrides the profile's, and that overrides the configured one", () => {
  const own = { profile: { ...demo, budget: { turns: 7, cost: 3 } }, kind: "terminal" as const };
  expect(budgetFor(own, { turns: 9, minutes: 5 }, { turns: 50, tokens: 1000 })).toEqual({ turns: 9, minutes: 5, tokens: 1000, cost: 3 });
  expect(budgetFor(own, { turns: null, cost: null }, {})).toBeUndefined();
  expect(budgetFor(terminal)).toBeUndefined();
});

test("a command gets no configured budget, but can be given a limit of minutes", () => {
  expect(budgetFor(shell, {}, { turns: 3, minutes: 5, cost: 1 })).toBeUndefined();
  expect(budgetFor(shell, { minutes: 2 }, { minutes: 5 })).toEqual({ minutes: 2 });
});

test("a limit that cannot be measured is refused if requested, and dropped if configured", () => {
  expect(() => budgetFor(shell, { tokens: 5 })).toThrow("shell does not report its tokens");
  expect(() => budgetFor(untested, { turns: 5 })).toThrow("aider does not report its turns");
  expect(budgetFor(untested, {}, { turns: 5, tokens: 5, minutes: 5 })).toEqual({ minutes: 5 });
  expect(budgetFor({ profile: untested.profile, kind: "conversation" }, { turns: 5, cost: 1 })).toEqual({ turns: 5, cost: 1 });
});

test("a change replaces the limits it names, removes those set to null, and keeps the rest", () => {
  expect(changedBudget(terminal, { turns: 5, cost: 1 }, { turns: 10, cost: null, minutes: 3 })).toEqual({ turns: 10, minutes: 3 });
  expect(changedBudget(terminal, null, { turns: 10 })).toEqual({ turns: 10 });
  expect(changedBudget({ profile: undefined, kind: "terminal" }, { turns: 5 }, { turns: null })).toEqual({});
  expect(() => changedBudget(shell, { minutes: 5 }, { turns: 10 })).toThrow("does not report");
});
