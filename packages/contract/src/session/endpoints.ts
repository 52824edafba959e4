/** Endpoints of sessions: to list, start, change, stop and remove them. */
import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { BudgetRequest } from "../usage/budget.ts";
import { flag, list } from "../wire.ts";
import { FORK_ENDPOINTS } from "./fork.ts";
import { Session, StatusSchema } from "./session.ts";
import { CLOSED_TO_SESSIONS, SpawnBody } from "./spawn-request.ts";
import { PROMPT_FATES, RUN_STATES } from "./status.ts";

/** Selects sessions for a command. Names take precedence over filters; without either the command decides. */
export const Selection = z.object({
  names: z.optional(list),
  all: flag,
  status: z.optional(z.pipe(list, z.array(StatusSchema))),
  agent: z.optional(list),
});
export type Selection = z.infer<typeof Selection>;

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
  "agent_too_old",
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

const text = z.string().check(z.maxLength(10_000, "a name, a role or an objective has at most 10,000 characters"));

export const SESSION_ENDPOINTS = {
  listSessions: {
    ...ROUTES.listSessions,
    answeredWithout: ["daemon", "configuration"],
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
    answeredWithout: ["daemon", "configuration"],
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
    answeredWithout: ["configuration"],
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
} as const satisfies Record<string, Endpoint>;
