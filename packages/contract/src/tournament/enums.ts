/** Enumerations of tournaments. No schema library here: the CLI's hot path loads this file. */

/** States of a check in a workspace. */
export const CHECK_STATES = ["running", "passed", "failed", "interrupted"] as const;
