/** Reads budgets of config.toml, and tells which limits can be enforced for an agent. */
import { BUDGET_LIMITS, type Budget, type BudgetLimit, type KnownKeys, type SessionKind } from "@holdfast/contract";
import { amount, WrongSetting } from "@holdfast/platform";
import type { Profile } from "./profile.ts";

export const BUDGET_KEYS = {
  turns: { about: "The number of turns a session may have.", takes: "a whole number above 0", usual: null, example: "turns = 10" },
  minutes: { about: "The minutes a session may run.", takes: "a number above 0", usual: null, example: "minutes = 30" },
  tokens: {
    about: "The tokens a session and the sessions it starts may use together.",
    takes: "a whole number above 0; k and M are allowed in quotes",
    usual: null,
    example: 'tokens = "200k"',
  },
  cost: {
    about: "The cost in US dollars that a session and the sessions it starts may reach together.",
    takes: "a number above 0",
    usual: null,
    example: "cost = 2.5",
  },
} as const satisfies KnownKeys;

const WHOLE: ReadonlySet<BudgetLimit> = new Set<BudgetLimit>(["turns", "tokens"]);

/** `turns = 10`, `minutes = 30`, `tokens = "200k"`, `cost = 2.5`. */
export function readBudget(table: unknown, { file, path }: { file: string; path: string }): Budget {
  if (table === undefined) return {};
  if (typeof table !== "object" || table === null || Array.isArray(table)) {
    throw new WrongSetting({ file, key: path, what: "is not a table", hint: `for example: [${path}]` });
  }
  const budget: Budget = {};
  for (const limit of BUDGET_LIMITS) {
    const value = (table as Record<string, unknown>)[limit];
    if (value === undefined) continue;
    const number = typeof value === "string" ? amount(value) : value;
    const isGood = typeof number === "number" && Number.isFinite(number) && number > 0 && (!WHOLE.has(limit) || Number.isInteger(number));
    if (!isGood) {
      const hint = 'for example: turns = 10, minutes = 30, tokens = "200k", cost = 2.5';
      throw new WrongSetting({ file, key: `${path}.${limit}`, what: `is not a limit: ${JSON.stringify(value)}`, hint });
    }
    budget[limit] = number;
  }
  return budget;
}

/** The limits that can be seen to be reached. */
export function limitsKeptFor(profile: Profile, kind: SessionKind): BudgetLimit[] {
  if (kind === "conversation") return BUDGET_LIMITS.filter((limit) => limit !== "cost" || knowsItsModel(profile));
  const knowsTurns = kind !== "shell" && !profile.untested && Boolean(profile.hooks ?? profile.screen ?? profile.stateFile);
  return [...(knowsTurns ? ["turns" as const] : []), "minutes", ...(profile.usage ? (["tokens", "cost"] as const) : [])];
}

/** The tokens of a command that prints plain text are estimated; without a model they have no price. */
function knowsItsModel({ ours }: Profile): boolean {
  return !(ours && "exec" in ours) || ours.exec.answer !== "plain" || ours.exec.model !== null;
}
