/** Words for people; no schema library here, the CLI's hot path loads this file. */
export const KINDS = ["terminal", "conversation", "shell"] as const;
export type SessionKind = (typeof KINDS)[number];

/** `created`: recorded, and not started yet. */
export const STATUSES = ["created", "starting", "working", "waiting", "idle", "done", "failed", "stopped", "lost", "unknown"] as const;
export type SessionStatus = (typeof STATUSES)[number];

/** Of somebody who is attached: one drives, the others look on. */
export const ROLES = ["driver", "observer"] as const;
export const CONTROLS = ["request", "give", "take"] as const;
export type AttachmentRole = (typeof ROLES)[number];

/** Hosts on which a session can be started. */
export const HOSTS = ["tmux", "native"] as const;
export type OwnHost = (typeof HOSTS)[number];
/** `foreign`: what was started outside of Holdfast and adopted where it is. */
export const EVERY_HOST = [...HOSTS, "foreign"] as const;
export type HostName = (typeof EVERY_HOST)[number];

/** From the most trusted to the least: a structured protocol, the agent's hooks, its own files, the terminal's title, what is on the screen, what runs. */
export const SOURCES = ["protocol", "hook", "state_file", "title", "screen", "processes"] as const;
export type EvidenceSource = (typeof SOURCES)[number];

export const TURNS = ["idle", "working"] as const;
export type Turn = (typeof TURNS)[number];

/** What an agent wants a person for. */
export const WAITS = ["approval", "question", "trust", "login", "rate_limit"] as const;
export type Wait = (typeof WAITS)[number];

/** How a task ended: what it was to achieve is done, was not, or nobody wants it any more. */
export const TASK_OUTCOMES = ["done", "failed", "cancelled"] as const;
export type TaskOutcome = (typeof TASK_OUTCOMES)[number];

/** How far a message to an agent has come. */
export const MESSAGE_STATES = ["queued", "injecting", "injected", "turn_started", "replied", "failed", "cancelled"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** When a run that ended by itself is followed by another: never, after a failure, or always. */
/** Why there is no further run of a session that would be restarted. */
export const GIVEN_UP = ["crash_loop", "stopped", "damaged", "restored", "budget"] as const;
export type GivenUp = (typeof GIVEN_UP)[number];

export const RESTARTS = ["never", "on-failure", "always"] as const;
export type RestartPolicy = (typeof RESTARTS)[number];

/** Why a run is over. `out_of_memory`: killed for the memory it took, by its limit or by the kernel. */
export const CAUSES = ["exited", "stopped", "lost", "not_started", "out_of_memory", "let_go"] as const;
export type EndCause = (typeof CAUSES)[number];

/** What an agent can ask by a tool of ours: permission to do something, or the answer to a question. */
export const ASKED_FOR = ["approval", "question"] as const;

/** What waits in the inbox: also dialogs that an agent shows before it works, about trust in its folder and about a login. */
export const INBOX_FOR = [...ASKED_FOR, "trust", "login"] as const;
export type AskedFor = (typeof INBOX_FOR)[number];

export const DECISIONS = ["allow", "deny", "answer"] as const;
export type Decision = (typeof DECISIONS)[number];

/** How an answer reaches the agent: a hook of it that waits, keys in the dialog on its screen, the protocol that it speaks, or a tool with which it asked. */
export const APPROVAL_CHANNELS = ["hook", "screen", "protocol", "tool"] as const;
export type ApprovalChannel = (typeof APPROVAL_CHANNELS)[number];

/** How a request can be over without an answer from the inbox. */
export const RESOLVED = ["elsewhere", "withdrawn", "timed_out", "run_ended"] as const;

export const APPROVAL_STATUSES = ["open", "allowed", "denied", "answered", ...RESOLVED] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

const ENDED: ReadonlySet<SessionStatus> = new Set<SessionStatus>(["done", "failed", "stopped", "lost"]);

export function hasEnded(status: SessionStatus): boolean {
  return ENDED.has(status);
}

/** It has a run that lives or is about to: a session that was only created has none. */
export function isRunning(status: SessionStatus): boolean {
  return status !== "created" && !hasEnded(status);
}

export const WORKSPACE_KINDS = ["worktree", "plain"] as const;
export type WorkspaceKind = (typeof WORKSPACE_KINDS)[number];

/** `interrupted`: nobody was there to see how it ended. */
export const SETUP_STATES = ["running", "done", "failed", "interrupted"] as const;

/** How a workspace's commits get onto its base: as they are, as one, or each anew on top of it. */
export const MERGE_WAYS = ["ff", "squash", "rebase"] as const;
export type MergeWay = (typeof MERGE_WAYS)[number];

/** The files of a Working Context, in the order in which they are read. */
export const CONTEXT_FILES = ["background.md", "plan.md", "working-log.md", "results-summary.md"] as const;
export type ContextFileName = (typeof CONTEXT_FILES)[number];

/** Of such a file: not there, as it was laid out, or with something in it. */
export const CONTEXT_STATES = ["missing", "empty", "written"] as const;
export type ContextState = (typeof CONTEXT_STATES)[number];

/** By what it is known what an agent used: its protocol, its own record of a conversation, or what a command of it printed. */
export const USAGE_SOURCES = ["protocol", "transcript", "headless"] as const;
export type UsageSourceName = (typeof USAGE_SOURCES)[number];

export const USAGE_BY = ["day", "agent", "model", "session", "group", "turn"] as const;
export type UsageBy = (typeof USAGE_BY)[number];

/** What a session's budget may limit. */
export const BUDGET_LIMITS = ["turns", "minutes", "tokens", "cost"] as const;
export type BudgetLimit = (typeof BUDGET_LIMITS)[number];

export const LOST_BY = ["reboot", "keeper"] as const;
export const RESTORE_OUTCOMES = ["back", "started", "failed", "skipped", "would"] as const;
/** Of a command that was run in a workspace to see what it is worth. */
export const CHECK_STATES = ["running", "passed", "failed", "interrupted"] as const;

/** Where a fork's files are from: a checkpoint, what was in its directory; or the directory itself, shared with the original, or another that was named. */
export const FORK_FILES = ["checkpoint", "copied", "shared", "given"] as const;
export type ForkFiles = (typeof FORK_FILES)[number];

/** What a tool is for, in the words of the Agent Client Protocol. */
export const TOOL_KINDS = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** How a turn ended: by itself; at a limit of the agent's or the model's; refused; by a person; by an error; or cut off with its process. */
export const TURN_ENDS = ["completed", "max_tokens", "max_requests", "refused", "cancelled", "failed", "interrupted"] as const;
export type TurnEnd = (typeof TURN_ENDS)[number];

/** What drives a conversation: an agent that speaks ACP, a command for each turn, or a model by itself. */
export const DRIVERS = ["acp", "exec", "model"] as const;
export type DriverName = (typeof DRIVERS)[number];

/**
 * What happens with a session's first prompt at a later run. `withheld`: an earlier run was handed it and may have executed it, so this run is not.
 * `given`: no earlier run got it. `repeated`: somebody asked for it.
 */
export const PROMPT_FATES = ["withheld", "given", "repeated"] as const;
export type PromptFate = (typeof PROMPT_FATES)[number];

/** How far a run has come. `ready`: its agent shows that it is up. `running`: it runs, and nothing tells more. `starting`: not ready yet. */
export const RUN_STATES = ["starting", "running", "ready", "ended"] as const;
export type RunState = (typeof RUN_STATES)[number];

/** What was done to interrupt a turn, in order. */
export const CANCEL_STEPS = ["keys", "keys_again", "ctrl_c", "protocol", "protocol_again"] as const;
export type CancelStep = (typeof CANCEL_STEPS)[number];

/** How that went. `stopped`: the turn has ended. `ignored`: the agent keeps working. `unknown`: nothing tells. `none`: no turn ran. */
export const CANCEL_OUTCOMES = ["stopped", "ignored", "unknown", "none"] as const;
export type CancelOutcome = (typeof CANCEL_OUTCOMES)[number];
