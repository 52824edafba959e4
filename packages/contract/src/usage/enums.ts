/** Enumerations of usage and budgets. No schema library here: the CLI's hot path loads this file. */

/** Source of a usage record: the agent's protocol, its own record of a conversation, or the output of its command. */
export const USAGE_SOURCES = ["protocol", "transcript", "headless"] as const;

export const USAGE_BY = ["day", "agent", "model", "session", "group", "turn"] as const;
export type UsageBy = (typeof USAGE_BY)[number];

/** Limits of a budget. */
export const BUDGET_LIMITS = ["turns", "minutes", "tokens", "cost"] as const;
export type BudgetLimit = (typeof BUDGET_LIMITS)[number];
