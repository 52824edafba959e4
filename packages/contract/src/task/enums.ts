/** Enumerations of tasks. No schema library here: the CLI's hot path loads this file. */

/** Outcome of a task: achieved, not achieved, or no longer wanted. */
export const TASK_OUTCOMES = ["done", "failed", "cancelled"] as const;
export type TaskOutcome = (typeof TASK_OUTCOMES)[number];
