/** Enumerations of sessions, shown to people. No schema library here: the CLI's hot path loads this file. */
export const KINDS = ["terminal", "conversation", "shell"] as const;
export type SessionKind = (typeof KINDS)[number];

/** `created`: recorded, not started. */
export const STATUSES = ["created", "starting", "working", "waiting", "idle", "done", "failed", "stopped", "lost", "unknown"] as const;
export type SessionStatus = (typeof STATUSES)[number];

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

/** Reasons why a session is not restarted although its policy says so. */
export const GIVEN_UP = ["crash_loop", "stopped", "damaged", "restored", "budget"] as const;
export type GivenUp = (typeof GIVEN_UP)[number];

/** When another run follows a run that ended without a request: never, after a failure, or always. */
export const RESTARTS = ["never", "on-failure", "always"] as const;

/** Cause of a run's end. `out_of_memory`: killed for its memory use, by its limit or by the kernel. `let_go`: an adopted session was released. */
export const CAUSES = ["exited", "stopped", "lost", "not_started", "out_of_memory", "let_go"] as const;
export type EndCause = (typeof CAUSES)[number];

const ENDED: ReadonlySet<SessionStatus> = new Set<SessionStatus>(["done", "failed", "stopped", "lost"]);

export function hasEnded(status: SessionStatus): boolean {
  return ENDED.has(status);
}

/** True if the session has a run that is alive or about to start; a session that was only created has none. */
export function isRunning(status: SessionStatus): boolean {
  return status !== "created" && !hasEnded(status);
}

/** Origin of a fork's files: a checkpoint, a copy of the directory, the original's own directory (shared), or another given directory. */
export const FORK_FILES = ["checkpoint", "copied", "shared", "given"] as const;
export type ForkFiles = (typeof FORK_FILES)[number];

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
