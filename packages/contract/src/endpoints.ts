import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { Listening, ScopeSchema, Sharing } from "./access/access.ts";
import { ACCESS_ENDPOINTS } from "./access/endpoints.ts";
import { APPROVAL_ENDPOINTS } from "./approval/endpoints.ts";
import { CHECKPOINT_ENDPOINTS } from "./checkpoint/endpoints.ts";
import { CONTEXT_ENDPOINTS } from "./context/endpoints.ts";
import { CONVERSATION_ENDPOINTS } from "./conversation/endpoints.ts";
import { Backup, RestoreReport } from "./daemon/backup.ts";
import { Orphan, UPKEEP_ENDPOINTS } from "./daemon/upkeep-endpoints.ts";
import { DIGEST_ENDPOINTS } from "./digest/endpoints.ts";
import { type Endpoint, SESSION_ERRORS } from "./endpoint.ts";
import { AnyEvent } from "./events.ts";
import { GROUP_ENDPOINTS } from "./group/endpoints.ts";
import { Principal } from "./ids.ts";
import { MESSAGE_ENDPOINTS } from "./message/endpoints.ts";
import { PERSONA_ENDPOINTS } from "./persona/endpoints.ts";
import { PLAN_ENDPOINTS } from "./plan/endpoints.ts";
import { RECORDING_ENDPOINTS } from "./recording/endpoints.ts";
import { type EndpointName, ROUTES } from "./routes.ts";
import { ADOPTION_ENDPOINTS } from "./session/adoption.ts";
import { Explanation, Newer } from "./session/evidence.ts";
import { FORK_ENDPOINTS } from "./session/fork.ts";
import { PROGRESS_ENDPOINTS } from "./session/progress.ts";
import { Session, StatusSchema, Time } from "./session/session.ts";
import { CLOSED_TO_SESSIONS, SpawnBody } from "./session/spawn-request.ts";
import { PROMPT_FATES, RUN_STATES } from "./session/status.ts";
import { TASK_ENDPOINTS } from "./task/endpoints.ts";
import { TERMINAL_ENDPOINTS } from "./terminal/endpoints.ts";
import { TOURNAMENT_ENDPOINTS } from "./tournament/endpoints.ts";
import { TRUST_ENDPOINTS } from "./trust/endpoints.ts";
import { BudgetRequest } from "./usage/budget.ts";
import { USAGE_ENDPOINTS } from "./usage/endpoints.ts";
import { flag, list, wholeNumber } from "./wire.ts";
import { WORKSPACE_ENDPOINTS } from "./workspace/endpoints.ts";

// Without a locale, zod/mini reports every error only as invalid input.
z.config(en());

/**
 * Custom messages are shown unchanged (`sentence` in the daemon's `bind.ts`). They begin with a lower-case letter, unlike all messages of the
 * library.
 */
const text = z.string().check(z.maxLength(10_000, "a name, a role or an objective has at most 10,000 characters"));

/** Selects sessions for a command. Names take precedence over filters; without either the command decides. */
export const Selection = z.object({
  names: z.optional(list),
  all: flag,
  status: z.optional(z.pipe(list, z.array(StatusSchema))),
  agent: z.optional(list),
});
export type Selection = z.infer<typeof Selection>;

/** An agent that can be started, and its installation on this machine. */
export const AgentInfo = z.object({
  name: z.string(),
  description: z.string(),
  kind: z.enum(["terminal", "shell"]),
  /** Null: its program is not on the PATH. */
  path: z.nullable(z.string()),
  /** Null: not found, not asked, or not reported by the program. */
  version: z.nullable(z.string()),
  /** Set if the agent's version is newer than the one its status rules were made for. */
  newer: z.nullable(Newer),
  /** The version is not known yet: the program did not answer within the given time. */
  asking: z.boolean(),
  /** False: never tested with the real program; its status is only that of its process. */
  tested: z.boolean(),
  /** Defined in config.toml. */
  own: z.boolean(),
  takesPrompt: z.boolean(),
  resumes: z.boolean(),
  /** Program that speaks the Agent Client Protocol for the agent; null: there is none, or it was not found. */
  structured: z.nullable(z.string()),
});
export type AgentInfo = z.infer<typeof AgentInfo>;

/** Whether sleep is prevented now, by which program, and why not. */
export const KeptAwake = z.object({ active: z.boolean(), by: z.nullable(z.string()), trouble: z.nullable(z.string()) });
export type KeptAwake = z.infer<typeof KeptAwake>;

export const DaemonStatus = z.object({
  pid: z.int(),
  version: z.string(),
  node: z.string(),
  nodeVersion: z.string(),
  home: z.string(),
  socket: z.string(),
  startedAt: Time,
  uptimeMs: z.number(),
  machine: z.string(),
  epoch: z.string(),
  seq: z.int(),
  /** `lost`: number of ended sessions that a restore would bring back. */
  sessions: z.object({ running: z.int(), ended: z.int(), lost: z.int() }),
  /** The newest backup; null: there is none. */
  backup: z.nullable(Backup),
  /** The restore that began the current epoch, if any. */
  restored: z.nullable(z.extend(RestoreReport, { at: Time })),
  /** The TCP address; null: not requested. */
  listen: z.nullable(Listening),
  /** The socket for other users of this machine; null: not requested. */
  share: z.nullable(Sharing),
  /** Null: not enabled (keep_awake in config.toml). */
  keepAwake: z.nullable(KeptAwake),
  /** Settings that have no effect, as sentences. */
  warnings: z.array(z.string()),
  /** The caller and its scope. */
  actor: Principal,
  scope: ScopeSchema,
  tmux: z.nullable(z.object({ path: z.string(), version: z.string(), socket: z.string(), pid: z.nullable(z.int()) })),
});
export type DaemonStatus = z.infer<typeof DaemonStatus>;

/** `unread`: number of messages that wait for the caller. */
export const SessionList = z.object({ cursor: z.string(), sessions: z.array(Session), unread: z.int() });
export type SessionList = z.infer<typeof SessionList>;

const Stopped = z.object({ session: Session, killed: z.array(z.object({ pid: z.int(), name: z.string(), signal: z.string() })) });

/** `tree`: descendants that were stopped too, if requested. */
export const StopReply = z.extend(Stopped, { tree: z.array(Stopped) });
export type StopReply = z.infer<typeof StopReply>;

/** How the next run begins: it continues a conversation, begins a new one, or runs the same command again. */
export const ResumedSchema = z.enum(["conversation", "fresh", "command"]);
export type Resumed = z.infer<typeof ResumedSchema>;

const SPAWN_ERRORS = [
  "invalid_name",
  "name_taken",
  "usage",
  "persona_not_found",
  "persona_unusable",
  "agent_unknown",
  "program_not_found",
  "cwd_unusable",
  "host_missing",
  "host_failed",
  "workspace_not_found",
  "workspace_removed",
  "repository_unusable",
  "git_failed",
  "setup_failed",
  "not_trusted",
  "group_full",
] as const;

export const ENDPOINTS = {
  status: {
    ...ROUTES.status,
    summary: "The daemon: its pid, version, Node, home and counts.",
    scope: "observer",
    reach: "any",
    reply: DaemonStatus,
    errors: [],
  },
  shutdown: {
    ...ROUTES.shutdown,
    summary: "Stops the daemon; with `all` every session and keeper first.",
    scope: "owner",
    body: z.object({
      all: z._default(z.boolean(), false),
      graceMs: z._default(z.number().check(z.minimum(0)), 5000),
      why: z._default(z.enum(["asked", "replaced"]), "asked"),
    }),
    /** `orphans`: processes without a record that were stopped too. */
    reply: z.object({ pid: z.int(), stopped: z.array(Session), orphans: z.array(Orphan) }),
    errors: ["stop_incomplete"],
  },
  listSessions: {
    ...ROUTES.listSessions,
    summary:
      "Sessions with the cursor of this snapshot. Only running ones, unless `all`, `status` or `names` is set; with `unseen` also failed ones that nobody has viewed.",
    scope: "observer",
    reach: "own",
    query: z.extend(Selection, { usage: flag, unseen: flag }),
    reply: SessionList,
    errors: SESSION_ERRORS,
  },
  spawn: {
    ...ROUTES.spawn,
    summary: "Starts a session and replies when its program runs.",
    scope: "driver",
    reach: "own",
    takesText: true,
    closedToSessions: CLOSED_TO_SESSIONS,
    body: SpawnBody,
    /** `notes`: remarks for the caller on the new workspace. */
    reply: z.extend(Session, { notes: z.array(z.string()) }),
    errors: SPAWN_ERRORS,
  },
  checkSpawn: {
    ...ROUTES.checkSpawn,
    summary: "Checks a spawn request without starting anything: fails with the errors that `spawn` would give.",
    scope: "driver",
    takesText: true,
    body: SpawnBody,
    /** For a new worktree: its repository and branch. */
    reply: z.object({ repository: z.nullable(z.string()), branch: z.nullable(z.string()) }),
    errors: SPAWN_ERRORS,
  },
  getSession: {
    ...ROUTES.getSession,
    summary: "One session by name, id or unique id prefix.",
    scope: "observer",
    reach: "own",
    reply: Session,
    errors: SESSION_ERRORS,
  },
  renameSession: {
    ...ROUTES.renameSession,
    summary: "Renames a session.",
    scope: "driver",
    reach: "own",
    body: z.object({ name: text }),
    reply: Session,
    errors: [...SESSION_ERRORS, "invalid_name", "name_taken"],
  },
  removeSession: {
    ...ROUTES.removeSession,
    summary:
      "Removes an ended session's record and files, and ends processes it left; with `tree` also its descendants. A running adopted session is released, and its agent keeps running.",
    scope: "owner",
    query: z.object({ tree: flag }),
    reply: Session,
    errors: [...SESSION_ERRORS, "session_running", "stop_incomplete", "host_failed"],
  },
  resumeSession: {
    ...ROUTES.resumeSession,
    summary:
      "Starts a created session, or the next run of an ended one, with the agent's own conversation. `fresh` begins a new conversation.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: z.object({
      fresh: z._default(z.boolean(), false),
      conversation: z.optional(text),
      budget: z.optional(BudgetRequest),
      /** Variables to add or replace, in this run and all later ones. */
      env: SpawnBody.shape.env,
      /** Send the first prompt again. By default it is sent only once per session. */
      repeatPrompt: z._default(z.boolean(), false),
      /** Longest wait for the agent to start; 0 does not wait. */
      waitMs: z._default(z.int().check(z.minimum(0), z.maximum(60_000)), 0),
    }),
    /** `state`: progress of the run's start. `lines`: the last lines of output, if the run has already ended. */
    reply: z.extend(Session, {
      resumed: ResumedSchema,
      prompt: z.nullable(z.enum(PROMPT_FATES)),
      state: z.enum(RUN_STATES),
      lines: z.array(z.string()),
    }),
    errors: [
      ...SESSION_ERRORS,
      "session_running",
      "session_damaged",
      "conversation_unknown",
      "budget_spent",
      "usage",
      "cwd_unusable",
      "host_missing",
      "host_failed",
    ],
  },
  setBudget: {
    ...ROUTES.setBudget,
    summary: "Changes a session's budget, also while it runs. A session may change the budget of its children, not its own.",
    scope: "driver",
    reach: "children",
    body: BudgetRequest,
    reply: Session,
    errors: [...SESSION_ERRORS, "usage"],
  },
  ...FORK_ENDPOINTS,
  stopSession: {
    ...ROUTES.stopSession,
    summary:
      "Sends SIGTERM to every process of the session, including those an ended session left, then SIGKILL after the grace period. Replies when all are gone. With `tree` also stops its descendants.",
    scope: "driver",
    reach: "own",
    body: z.object({
      graceMs: z._default(z.number().check(z.minimum(0), z.maximum(3_600_000)), 5000),
      tree: z._default(z.boolean(), false),
    }),
    reply: StopReply,
    errors: [...SESSION_ERRORS, "session_ended", "stop_incomplete"],
  },
  ...TERMINAL_ENDPOINTS,
  ...MESSAGE_ENDPOINTS,
  explainSession: {
    ...ROUTES.explainSession,
    summary: "Explains a session's status: the value on each axis, its evidence, and other observations.",
    scope: "observer",
    reach: "own",
    reply: z.object({ session: Session, explanation: Explanation }),
    errors: SESSION_ERRORS,
  },
  ...RECORDING_ENDPOINTS,
  viewSession: {
    ...ROUTES.viewSession,
    summary: "Records that somebody viewed a session. The first view after its end allows pruning it.",
    scope: "observer",
    reach: "own",
    body: z.object({}),
    reply: Session,
    errors: SESSION_ERRORS,
  },
  ...DIGEST_ENDPOINTS,
  ...CONVERSATION_ENDPOINTS,
  ...USAGE_ENDPOINTS,
  ...ADOPTION_ENDPOINTS,
  ...APPROVAL_ENDPOINTS,
  ...PROGRESS_ENDPOINTS,
  ...WORKSPACE_ENDPOINTS,
  ...CHECKPOINT_ENDPOINTS,
  ...CONTEXT_ENDPOINTS,
  ...TOURNAMENT_ENDPOINTS,
  ...TRUST_ENDPOINTS,
  listAgents: {
    ...ROUTES.listAgents,
    summary:
      "The agents that can be started, searched on the caller's PATH. With `versions` each is asked for its version, for at most `waitMs`.",
    // Asking for a version runs the program, on a PATH that the caller chooses. That needs the same right as starting an agent.
    scope: "driver",
    reach: "any",
    query: z.object({ path: z.optional(z.string()), home: z.optional(z.string()), versions: flag, waitMs: z.optional(wholeNumber) }),
    reply: z.object({ agents: z.array(AgentInfo) }),
    errors: [],
  },
  ...TASK_ENDPOINTS,
  ...GROUP_ENDPOINTS,
  ...PLAN_ENDPOINTS,
  ...PERSONA_ENDPOINTS,
  ...UPKEEP_ENDPOINTS,
  listEvents: {
    ...ROUTES.listEvents,
    summary:
      "Events after a cursor, at most `limit`: all, of one `session`, or of one `group` by its path. A session sees events of itself, its descendants and their groups.",
    scope: "observer",
    reach: "own",
    query: z.object({
      after: z.optional(z.string()),
      session: z.optional(z.string()),
      group: z.optional(z.string()),
      type: z.optional(list),
      limit: z._default(wholeNumber, 1000),
    }),
    reply: z.object({ cursor: z.string(), events: z.array(AnyEvent), more: z.boolean() }),
    errors: [...SESSION_ERRORS, "usage", "cursor_gone", "group_not_found"],
  },
  followEvents: {
    ...ROUTES.followEvents,
    summary: "Events after a cursor and new ones as they happen, as SSE. Pass the last `id` as cursor to continue.",
    scope: "observer",
    reach: "own",
    query: z.object({
      after: z.optional(z.string()),
      session: z.optional(z.string()),
      group: z.optional(z.string()),
      type: z.optional(list),
    }),
    reply: "events",
    errors: [...SESSION_ERRORS, "usage", "cursor_gone", "group_not_found"],
  },
  socketEvents: {
    ...ROUTES.socketEvents,
    summary:
      "The same as a WebSocket: each text frame is an event as JSON. A browser passes `holdfast` and `token.TOKEN` as protocols; never put TOKEN into a URL.",
    scope: "observer",
    reach: "own",
    query: z.object({
      after: z.optional(z.string()),
      session: z.optional(z.string()),
      group: z.optional(z.string()),
      type: z.optional(list),
    }),
    reply: "socket",
    errors: [...SESSION_ERRORS, "usage", "cursor_gone", "group_not_found"],
  },
  ...ACCESS_ENDPOINTS,
} as const satisfies Record<EndpointName, Endpoint>;
