/** Enumerations of conversations. No schema library here: the CLI's hot path loads this file. */

/** Purpose of a tool, in the terms of the Agent Client Protocol. */
export const TOOL_KINDS = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/**
 * How a turn ended: completed, at a limit of the agent or the model, refused, cancelled by a person, failed, or interrupted because its process
 * ended.
 */
export const TURN_ENDS = ["completed", "max_tokens", "max_requests", "refused", "cancelled", "failed", "interrupted"] as const;
export type TurnEnd = (typeof TURN_ENDS)[number];

/** Attempts to interrupt a turn, in order. */
export const CANCEL_STEPS = ["keys", "keys_again", "ctrl_c", "protocol", "protocol_again"] as const;
export type CancelStep = (typeof CANCEL_STEPS)[number];

/**
 * Result of the attempts. `stopped`: the turn has ended. `ignored`: the agent keeps working. `unknown`: there is no evidence. `none`: no turn was
 * running.
 */
export const CANCEL_OUTCOMES = ["stopped", "ignored", "unknown", "none"] as const;
export type CancelOutcome = (typeof CANCEL_OUTCOMES)[number];
