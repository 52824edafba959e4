/** Validates a query before it starts anything. */
import { errorOf } from "./errors.ts";
import type { QueryOptions } from "./query-types.ts";

/** A timer with a longer delay fires at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Options that apply only to a new session. */
const OF_A_NEW_ONE = ["name", "persona", "instructions", "budget", "worktree", "workspace", "env", "args", "groups", "context"] as const;

export function checkQuery(options: QueryOptions): void {
  const { prompt, agent, persona, session, timeoutMs, budget } = options;
  if (typeof prompt !== "string" || prompt.trim() === "") {
    throw errorOf("usage", `the prompt is ${typeof prompt === "string" ? "empty" : "not a text"}`, {
      hint: "pass the task for the agent as prompt",
    });
  }
  if (session === "") throw errorOf("usage", "session is empty", { hint: "omit it for a new one" });
  if (session === undefined && !agent && !persona) {
    throw errorOf("usage", "the query names no agent", {
      hint: 'pass agent, for example "claude", or a persona, or a session to continue',
    });
  }
  const odd = session === undefined ? undefined : OF_A_NEW_ONE.find((key) => options[key] !== undefined);
  if (odd !== undefined) {
    throw errorOf("usage", `${odd} applies to a new session only, and ${session} exists already`, {
      hint: `omit ${odd} or session`,
    });
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS)) {
    throw errorOf("usage", `timeoutMs is ${timeoutMs}`, { hint: `use a number of milliseconds from 1 to ${LONGEST_TIMEOUT_MS}` });
  }
  for (const [limit, amount] of Object.entries(budget ?? {})) checkLimit(limit, amount);
}

const WHOLE = ["turns", "tokens"];
const LIMITS = [...WHOLE, "minutes", "cost"];

function checkLimit(limit: string, amount: unknown): void {
  if (!LIMITS.includes(limit)) throw errorOf("usage", `a budget has no ${limit}`, { hint: `its limits are ${LIMITS.join(", ")}` });
  const isRight = typeof amount === "number" && amount > 0 && amount < Infinity && (Number.isInteger(amount) || !WHOLE.includes(limit));
  if (amount === undefined || amount === null || isRight) return;
  const what = WHOLE.includes(limit) ? "a whole number of at least 1" : "a number above 0";
  throw errorOf("usage", `the budget's ${limit} are ${String(amount)}`.replace("cost are", "cost is"), {
    hint: `${what}, or null for no limit`,
  });
}
