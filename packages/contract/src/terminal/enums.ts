/** Enumerations of attachments. No schema library here: the CLI's hot path loads this file. */

/** Role of an attachment: one drives, the others observe. */
export const ROLES = ["driver", "observer"] as const;

export const CONTROLS = ["request", "give", "take"] as const;
export type AttachmentRole = (typeof ROLES)[number];
