/** `--budget turns=10,minutes=30,tokens=200k,cost=2.50`: limits of a session over all its runs. `off` removes a limit. */

import { HoldfastError } from "@holdfast/contract/errors";
import type { BudgetRequest } from "@holdfast/contract/usage/budget";
import { BUDGET_LIMITS } from "@holdfast/contract/usage/enums";
import { amount } from "@holdfast/platform/units";
import type { Flag } from "../command.ts";

export const BUDGET_FLAG = {
  value: "LIMITS",
  summary: "stop the session when all its runs have used this: turns=10,minutes=30,tokens=200k,cost=2.50",
  complete: "budget-limits",
} as const satisfies Flag;

const WHOLE = /^(turns|tokens)$/;

export function parseBudget(text: string | undefined): BudgetRequest | undefined {
  if (text === undefined) return undefined;
  const budget: BudgetRequest = {};
  for (const part of text.split(",")) {
    const [, name, value = ""] = /^\s*(\w+)\s*=\s*\$?(\S+)\s*$/.exec(part) ?? [];
    const limit = BUDGET_LIMITS.find((known) => known === name);
    if (limit === undefined) throw wrong(part.trim() === "" ? "is empty" : `does not take ${JSON.stringify(part.trim())}`);
    const number = value === "off" ? null : amount(value);
    if (number === undefined || number === 0) throw wrong(`takes an amount of ${limit}, or off, not ${JSON.stringify(value)}`);
    if (number !== null && WHOLE.test(limit) && !Number.isInteger(number)) throw wrong(`takes a whole number of ${limit}, not ${value}`);
    budget[limit] = number;
  }
  return budget;
}

function wrong(what: string): HoldfastError {
  return new HoldfastError("usage", `--budget ${what}`, {
    hint: "for example: --budget turns=10,minutes=30,tokens=200k,cost=2.50",
    candidates: BUDGET_LIMITS.map((limit) => `${limit}=`),
  });
}
