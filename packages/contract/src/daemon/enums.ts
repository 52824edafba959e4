/** Enumerations of losses and restores. No schema library here: the CLI's hot path loads this file. */
export const LOST_BY = ["reboot", "keeper"] as const;

export const RESTORE_OUTCOMES = ["back", "started", "failed", "skipped", "would"] as const;
