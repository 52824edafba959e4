/** Enumerations of approvals. No schema library here: the CLI's hot path loads this file. */

/** Requests that an agent can make through a Holdfast tool: permission to do something, or the answer to a question. */
export const ASKED_FOR = ["approval", "question"] as const;

/** Requests in the inbox. They include dialogs that an agent shows before it works, about trust in its folder and about a login. */
export const INBOX_FOR = [...ASKED_FOR, "trust", "login"] as const;
export type AskedFor = (typeof INBOX_FOR)[number];

export const DECISIONS = ["allow", "deny", "answer"] as const;
export type Decision = (typeof DECISIONS)[number];

/** How an answer reaches the agent: through its waiting hook, keys in the dialog on its screen, its protocol, or the tool with which it asked. */
export const APPROVAL_CHANNELS = ["hook", "screen", "protocol", "tool"] as const;

/** How an approval is closed without an answer from the inbox. */
export const RESOLVED = ["elsewhere", "withdrawn", "timed_out", "run_ended"] as const;

export const APPROVAL_STATUSES = ["open", "allowed", "denied", "answered", ...RESOLVED] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
