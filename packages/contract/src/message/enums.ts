/** Enumerations of messages. No schema library here: the CLI's hot path loads this file. */

/** Delivery states of a message. */
export const MESSAGE_STATES = ["queued", "injecting", "injected", "turn_started", "replied", "failed", "cancelled"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];
