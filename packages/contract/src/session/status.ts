/** Enumerations shown to people. No schema library here: the CLI's hot path loads this file. */
export const KINDS = ["terminal", "conversation", "shell"] as const;
export type SessionKind = (typeof KINDS)[number];

/** `created`: recorded, not started. */
export const STATUSES = ["created", "starting", "working", "waiting", "idle", "done", "failed", "stopped", "lost", "unknown"] as const;
export type SessionStatus = (typeof STATUSES)[number];

/** Role of an attachment: one drives, the others observe. */
export const ROLES = ["driver", "observer"] as const;
export const CONTROLS = ["request", "give", "take"] as const;
export type AttachmentRole = (typeof ROLES)[number];

/** Hosts that can start a session. */
export const HOSTS = ["tmux", "native"] as const;
export type OwnHost = (typeof HOSTS)[number];
/** `foreign`: the host of adopted sessions, which were started outside Holdfast. */
export const EVERY_HOST = [...HOSTS, "foreign"] as const;
export type HostName = (typeof EVERY_HOST)[number];

/** From the most to the least trusted: a structured protocol, the agent's hooks, its own files, the terminal's title, the screen, the processes. */
export const SOURCES = ["protocol", "hook", "state_file", "title", "screen", "processes"] as const;
export type EvidenceSource = (typeof SOURCES)[number];

export const TURNS = ["idle", "working"] as const;
export type Turn = (typeof TURNS)[number];

/** Reasons for which an agent waits for a person. */
export const WAITS = ["approval", "question", "trust", "login", "rate_limit"] as const;
export type Wait = (typeof WAITS)[number];

/** Outcome of a task: achieved, not achieved, or no longer wanted. */
export const TASK_OUTCOMES = ["done", "failed", "cancelled"] as const;
export type TaskOutcome = (typeof TASK_OUTCOMES)[number];

/** Delivery states of a message. */
export const MESSAGE_STATES = ["queued", "injecting", "injected", "turn_started", "replied", "failed", "cancelled"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** Reasons why a session is not restarted although its policy says so. */
export const GIVEN_UP = ["crash_loop", "stopped", "damaged", "restored", "budget"] as const;
export type GivenUp = (typeof GIVEN_UP)[number];

/** When another run follows a run that ended without a request: never, after a failure, or always. */
export const RESTARTS = ["never", "on-failure", "always"] as const;
export type RestartPolicy = (typeof RESTARTS)[number];

/** Cause of a run's end. `out_of_memory`: killed for its memory use, by its limit or by the kernel. `let_go`: an adopted session was released. */
export const CAUSES = ["exited", "stopped", "lost", "not_started", "out_of_memory", "let_go"] as const;
export type EndCause = (typeof CAUSES)[number];

/** Requests that an agent can make through a Holdfast tool: permission to do something, or the answer to a question. */
export const ASKED_FOR = ["approval", "question"] as const;

/** Requests in the inbox. They include dialogs that an agent shows before it works, about trust in its folder and about a login. */
export const INBOX_FOR = [...ASKED_FOR, "trust", "login"] as const;
export type AskedFor = (typeof INBOX_FOR)[number];

export const DECISIONS = ["allow", "deny", "answer"] as const;
export type Decision = (typeof DECISIONS)[number];

/** How an answer reaches the agent: through its waiting hook, keys in the dialog on its screen, its protocol, or the tool with which it asked. */
export const APPROVAL_CHANNELS = ["hook", "screen", "protocol", "tool"] as const;
export type ApprovalChannel = (typeof APPROVAL_CHANNELS)[number];

/** How an approval is closed without an answer from the inbox. */
export const RESOLVED = ["elsewhere", "withdrawn", "timed_out", "run_ended"] as const;

export const APPROVAL_STATUSES = ["open", "allowed", "denied", "answered", ...RESOLVED] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

const ENDED: ReadonlySet<SessionStatus> = new Set<SessionStatus>(["done", "failed", "stopped", "lost"]);

export function hasEnded(status: SessionStatus): boolean {
  return ENDED.has(status);
}

/** True if the session has a run that is alive or about to start; a session that was only created has none. */
export function isRunning(status: SessionStatus): boolean {
  return status !== "created" && !hasEnded(status);
}

export const WORKSPACE_KINDS = ["worktree", "plain"] as const;
export type WorkspaceKind = (typeof WORKSPACE_KINDS)[number];

/** `interrupted`: the end of the command was not seen. */
export const SETUP_STATES = ["running", "done", "failed", "interrupted"] as const;

/** How a workspace's commits reach its base: unchanged, as one commit, or rebased onto it. */
export const MERGE_WAYS = ["ff", "squash", "rebase"] as const;
export type MergeWay = (typeof MERGE_WAYS)[number];

/** Files of a Working Context, in reading order. */
export const CONTEXT_FILES = ["background.md", "plan.md", "working-log.md", "results-summary.md"] as const;
export type ContextFileName = (typeof CONTEXT_FILES)[number];

/** State of such a file: missing, still the template, or with content. */
export const CONTEXT_STATES = ["missing", "empty", "written"] as const;
export type ContextState = (typeof CONTEXT_STATES)[number];

/** Source of a usage record: the agent's protocol, its own record of a conversation, or the output of its command. */
export const USAGE_SOURCES = ["protocol", "transcript", "headless"] as const;
export type UsageSourceName = (typeof USAGE_SOURCES)[number];

export const USAGE_BY = ["day", "agent", "model", "session", "group", "turn"] as const;
export type UsageBy = (typeof USAGE_BY)[number];

/** Limits of a budget. */
export const BUDGET_LIMITS = ["turns", "minutes", "tokens", "cost"] as const;
export type BudgetLimit = (typeof BUDGET_LIMITS)[number];

export const LOST_BY = ["reboot", "keeper"] as const;
export const RESTORE_OUTCOMES = ["back", "started", "failed", "skipped", "would"] as const;
/** States of a check in a workspace. */
export const CHECK_STATES = ["running", "passed", "failed", "interrupted"] as const;

/** Origin of a fork's files: a checkpoint, a copy of the directory, the original's own directory (shared), or another given directory. */
export const FORK_FILES = ["checkpoint", "copied", "shared", "given"] as const;
export type ForkFiles = (typeof FORK_FILES)[number];

/** Purpose of a tool, in the terms of the Agent Client Protocol. */
export const TOOL_KINDS = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/**
 * How a turn ended: completed, at a limit of the agent or the model, refused, cancelled by a person, failed, or interrupted because its process
 * ended.
 */
export const TURN_ENDS = ["completed", "max_tokens", "max_requests", "refused", "cancelled", "failed", "interrupted"] as const;
export type TurnEnd = (typeof TURN_ENDS)[number];

/** Drivers of a conversation: an agent that speaks ACP, one command per turn, or a model directly. */
export const DRIVERS = ["acp", "exec", "model"] as const;
export type DriverName = (typeof DRIVERS)[number];

/**
 * What happens to a session's first prompt in a later run. `withheld`: an earlier run was given the prompt and may have executed it, so this run is
 * not. `given`: no earlier run got it. `repeated`: the caller asked to send it again.
 */
export const PROMPT_FATES = ["withheld", "given", "repeated"] as const;
export type PromptFate = (typeof PROMPT_FATES)[number];

/**
 * State of a run's start. `ready`: the agent shows that it is up. `running`: the program runs, without further evidence. `starting`: not ready yet.
 */
export const RUN_STATES = ["starting", "running", "ready", "ended"] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Attempts to interrupt a turn, in order. */
export const CANCEL_STEPS = ["keys", "keys_again", "ctrl_c", "protocol", "protocol_again"] as const;
export type CancelStep = (typeof CANCEL_STEPS)[number];

/**
 * Result of the attempts. `stopped`: the turn has ended. `ignored`: the agent keeps working. `unknown`: there is no evidence. `none`: no turn was
 * running.
 */
export const CANCEL_OUTCOMES = ["stopped", "ignored", "unknown", "none"] as const;
export type CancelOutcome = (typeof CANCEL_OUTCOMES)[number];
