import * as z from "zod/mini";
import { ScopeSchema } from "./access/access.ts";
import { Asked, DecisionSchema } from "./approval/approval.ts";
import { RESOLVED } from "./approval/enums.ts";
import { CHECKPOINT_EVENTS } from "./checkpoint/checkpoint.ts";
import { ContextFileSchema } from "./context/context.ts";
import { CONVERSATION_EVENTS } from "./conversation/events.ts";
import { RestoreReport } from "./daemon/backup.ts";
import { RESTORE_EVENTS } from "./daemon/restore.ts";
import { DIGEST_EVENTS } from "./digest/digest.ts";
import { GROUP_EVENTS } from "./group/group.ts";
import { Principal, RunNumber, SessionId, WorkspaceId } from "./ids.ts";
import { MESSAGE_EVENTS } from "./message/message.ts";
import { PLAN_EVENTS } from "./plan/plan.ts";
import { Evidence } from "./session/evidence.ts";
import {
  Attention,
  CauseSchema,
  Exit,
  ForkedFrom,
  GivenUpSchema,
  HostSchema,
  KindSchema,
  RestartSchema,
  StatusSchema,
  Time,
} from "./session/session.ts";
import { PROMPT_FATES, TURNS } from "./session/status.ts";
import { TASK_EVENTS } from "./task/task.ts";
import { PEOPLE_EVENTS } from "./terminal/attachments.ts";
import { TOURNAMENT_EVENTS } from "./tournament/tournament.ts";
import { TRUST_EVENTS } from "./trust/trust.ts";
import { BUDGET_EVENTS, Budget } from "./usage/budget.ts";
import { USAGE_EVENTS } from "./usage/usage.ts";
import { WORKSPACE_EVENTS } from "./workspace/workspace.ts";

const Row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

/**
 * Facts in the journal, in the past tense. The data of a type only gains optional fields; a breaking change gets a new `v`. Readers ignore unknown
 * types and fields. docs/EVENTS.md has a line for each type.
 */
export const EVENTS = {
  "daemon.started": z.object({ pid: z.int(), version: z.string(), node: z.string(), boot: z.optional(z.string()) }),
  "daemon.stopped": z.object({ pid: z.int(), why: z.enum(["asked", "replaced", "signal", "restore"]) }),
  /** The daemon listens on a TCP address; null: no longer. */
  "daemon.listening": z.object({ address: z.nullable(z.string()), public: z.boolean() }),
  /** The daemon opened a second socket for users of the group; null: no longer. */
  "daemon.shared": z.object({ group: z.nullable(z.string()), socket: z.string() }),
  /** Only the hash of a token's secret is stored, here and elsewhere. */
  "token.created": z.object({ id: z.string(), name: z.string(), scope: ScopeSchema, hash: z.string(), expiresAt: z.nullable(Time) }),
  "token.revoked": z.object({ id: z.string(), name: z.string() }),
  /** An expired token stays expired, even if the clock is set back. */
  "token.expired": z.object({ id: z.string(), name: z.string() }),
  /** A request of a known principal was refused. Identical refusals within a minute are only counted, in `more` of the next event. */
  "access.refused": z.object({ endpoint: z.string(), why: z.string(), more: z.int() }),
  "session.created": z.object({
    name: z.string(),
    kind: KindSchema,
    agent: z.string(),
    role: z.nullable(z.string()),
    objective: z.nullable(z.string()),
    host: HostSchema,
    cwd: z.string(),
    command: z.array(z.string()),
    restart: z.optional(RestartSchema),
    memoryLimitBytes: z.optional(z.nullable(z.int())),
    /** Limit of each run's recording; 0 keeps everything, absent means as configured. */
    recordingLimitBytes: z.optional(z.int()),
    budget: z.optional(Budget),
    /** The session that started this one. */
    parent: z.optional(z.nullable(SessionId)),
    /** The session's answers and its end are reported to its parent. */
    report: z.optional(z.boolean()),
    /** The id that the agent was given for its conversation. */
    conversation: z.optional(z.nullable(z.string())),
    /** The first run gets a first prompt. Absent in events of the first versions. */
    prompted: z.optional(z.boolean()),
    /** The session's workspace, if Holdfast manages one. */
    workspace: z.optional(z.nullable(WorkspaceId)),
    /** The session whose conversation was copied. */
    forkedFrom: z.optional(z.nullable(ForkedFrom)),
    /** For an adopted session: its process, and its pane in a user's own tmux server, if any. */
    adopted: z.optional(z.object({ pid: z.int(), socket: z.nullable(z.string()), pane: z.nullable(z.string()) })),
    /** False: only recorded; `session.run_created` begins its first run. */
    start: z.optional(z.literal(false)),
  }),
  /**
   * The record was lost with a damaged journal and rebuilt from the session's files. `exit` and `endedAt` are null for a run that may still be alive.
   */
  "session.rebuilt": z.object({
    name: z.string(),
    kind: KindSchema,
    agent: z.string(),
    role: z.nullable(z.string()),
    objective: z.nullable(z.string()),
    host: HostSchema,
    cwd: z.string(),
    command: z.array(z.string()),
    restart: RestartSchema,
    memoryLimitBytes: z.nullable(z.int()),
    recordingLimitBytes: z.optional(z.int()),
    budget: z.optional(Budget),
    parent: z.optional(z.nullable(SessionId)),
    report: z.optional(z.boolean()),
    conversation: z.optional(z.nullable(z.string())),
    conversations: z.optional(z.array(z.string())),
    workspace: z.optional(z.nullable(WorkspaceId)),
    forkedFrom: z.optional(z.nullable(ForkedFrom)),
    owner: Principal,
    createdAt: Time,
    runs: z.array(
      z.object({
        run: RunNumber,
        startedAt: z.nullable(Time),
        outputPath: z.nullable(z.string()),
        exit: z.nullable(Exit),
        endedAt: z.nullable(Time),
        bytes: z.nullable(z.int()),
        stopped: z.optional(z.boolean()),
      }),
    ),
  }),
  /** Run 2 and later; run 1 comes with the session. */
  "session.run_created": z.object({
    run: RunNumber,
    /** By the restart policy, on request, after a loss of all sessions, or as the first run of a session that was only created. */
    why: z.enum(["restart", "resume", "restore", "start"]),
    /** The conversation to continue; absent if a new one begins or the agent takes no id. */
    conversation: z.optional(z.string()),
    /** The new host, if it changed: Holdfast itself runs the next run of an adopted session. */
    host: z.optional(HostSchema),
    /** What happens to the first prompt; see PROMPT_FATES. Absent without a first prompt, or if it is already in the conversation. */
    prompt: z.optional(z.enum(PROMPT_FATES)),
  }),
  /** `due` is the same moment on the monotonic clock: boot id and milliseconds since boot. */
  "session.restart_scheduled": z.object({ run: RunNumber, at: Time, quickEnds: z.int(), due: z.optional(z.nullable(z.string())) }),
  /** No further run: the program ended too often too quickly, somebody stopped it, or its files are damaged. */
  "session.restart_abandoned": z.object({
    /** `restored`: the journal lost what happened before the end of `run`, perhaps including a stop by a person. */
    why: GivenUpSchema,
    quickEnds: z.int(),
    run: z.optional(RunNumber),
  }),
  /** `startedAt` is set if the start was detected later, because the daemon died in between. */
  "session.started": z.object({
    run: RunNumber,
    pid: z.int(),
    pidStart: z.string(),
    outputPath: z.string(),
    startedAt: z.optional(Time),
  }),
  /** A run that its keeper kept without a record belongs to the session again. */
  "session.adopted": z.object({ run: RunNumber, pid: z.int(), pidStart: z.string(), outputPath: z.string() }),
  /**
   * The agent's activity changed on at least one axis; null means unknown. `since`: when the status, or the reason to wait, began. `turnBegan`: a
   * turn began with this change. `evidence`: everything known now.
   */
  "session.status_changed": z.object({
    run: RunNumber,
    status: StatusSchema,
    since: Time,
    /** The same moment on the monotonic clock: boot id and milliseconds since boot. */
    sinceBoot: z.nullable(z.string()),
    turn: z.nullable(z.enum(TURNS)),
    attention: z.nullable(Attention),
    background: z.nullable(z.boolean()),
    hung: z.boolean(),
    turnBegan: z.boolean(),
    evidence: z.array(Evidence),
  }),
  /** The agent's own files show more turns of a conversation than were seen: `turns` in total, of which `missed` were not seen. */
  "session.turns_counted": z.object({ run: RunNumber, conversation: z.string(), turns: z.int(), missed: z.int() }),
  /** The agent reported its first prompt, which no message brought. Only for a session without an objective. */
  "session.first_prompted": z.object({ run: RunNumber, text: z.string() }),
  /** The agent reported its progress. */
  "session.progress_reported": z.object({ text: z.string(), done: z.nullable(z.number()), total: z.nullable(z.number()) }),
  /** The agent reported its current conversation. `begun`: the agent was given the id for a new conversation, which is empty. */
  "session.conversation_changed": z.object({ run: RunNumber, conversation: z.string(), begun: z.optional(z.boolean()) }),
  /**
   * The agent made a permission request or asked a question, and waits. `ask`: the name of the file that its hook waits on; `dialog`: the dialog on
   * its screen.
   */
  "approval.requested": z.extend(Asked, { ask: z.nullable(z.string()), dialog: z.nullable(z.string()) }),
  /** The actor decided, and keys are about to be pressed in the dialog on the agent's screen. A later event records that they took effect. */
  "approval.answering": z.object({ id: z.string(), run: RunNumber, decision: DecisionSchema, text: z.string() }),
  /** The actor, a principal or a rule, decided. From now on the agent is given this answer, also by the next daemon. */
  "approval.answered": z.object({
    id: z.string(),
    run: RunNumber,
    decision: DecisionSchema,
    reason: z.nullable(z.string()),
    /** The request, in one line. */
    text: z.string(),
    /** The answer also applies to similar requests, by the agent's own rules. */
    always: z.optional(z.boolean()),
  }),
  /** The answer had no effect: the agent still waits, and must be answered on its own screen. */
  "approval.reopened": z.object({ id: z.string(), run: RunNumber, text: z.string(), dialog: z.nullable(z.string()) }),
  /** Closed without an answer from the inbox. */
  "approval.resolved": z.object({ id: z.string(), run: RunNumber, how: z.enum(RESOLVED) }),
  ...MESSAGE_EVENTS,
  ...WORKSPACE_EVENTS,
  ...RESTORE_EVENTS,
  ...CHECKPOINT_EVENTS,
  ...TASK_EVENTS,
  ...PLAN_EVENTS,
  ...TOURNAMENT_EVENTS,
  ...TRUST_EVENTS,
  ...DIGEST_EVENTS,
  ...CONVERSATION_EVENTS,
  ...USAGE_EVENTS,
  ...BUDGET_EVENTS,
  /** The missing files of a Working Context were created on request. */
  "context.created": z.object({ root: z.string(), files: z.array(ContextFileSchema) }),
  "context.written": z.object({ root: z.string(), file: ContextFileSchema, bytes: z.int() }),
  /** Somebody typed. Records the amount, never the content. */
  "session.input_requested": z.object({ run: RunNumber, bytes: z.nullable(z.int()), keys: z.nullable(z.int()) }),
  ...PEOPLE_EVENTS,
  ...GROUP_EVENTS,
  "session.stop_requested": z.object({ run: RunNumber, graceMs: z.number() }),
  /** The run is about to be stopped for exceeding a limit. */
  "session.limit_exceeded": z.object({ run: RunNumber, limit: z.enum(["memory"]), used: z.int(), allowed: z.int() }),
  /**
   * `exit` is null if the run vanished with its keeper or never began. `bytes`: total size of the recording. `durationMs` is by the monotonic clock;
   * null if not known.
   */
  "session.ended": z.object({
    run: RunNumber,
    exit: z.nullable(Exit),
    cause: CauseSchema,
    endedAt: Time,
    lastActivityAt: z.nullable(Time),
    bytes: z.nullable(z.int()),
    durationMs: z.optional(z.nullable(z.int())),
  }),
  /** First view of the session since it ended. It may be pruned from now on. */
  "session.viewed": z.object({ run: RunNumber }),
  "session.renamed": z.object({ from: z.string(), name: z.string() }),
  /**
   * `why`: on request (the default), or by the age or size limit of the policy. `bytes`: size of the deleted files. `parent`: the session's parent,
   * which is still notified.
   */
  "session.removed": z.object({
    name: z.string(),
    why: z.optional(z.enum(["asked", "age", "size"])),
    bytes: z.optional(z.int()),
    parent: z.optional(z.nullable(SessionId)),
  }),
  /** The parent was removed. The session is now a child of the parent's parent, or of none. */
  "session.reparented": z.object({ from: SessionId, parent: z.nullable(SessionId) }),
  /** State of the session when its older events were deleted, as complete rows of the tables. */
  "session.snapshot": z.object({
    session: Row,
    runs: z.array(Row),
    approvals: z.optional(z.array(Row)),
    messages: z.optional(z.array(Row)),
    attachments: z.optional(z.array(Row)),
    turns: z.optional(z.array(Row)),
    replies: z.optional(z.array(Row)),
    looks: z.optional(z.array(Row)),
    usagePlaces: z.optional(z.array(Row)),
    tasks: z.optional(z.array(Row)),
    memberships: z.optional(z.array(Row)),
  }),
  /** Old events were deleted. Events up to `upTo` have gaps. */
  "journal.pruned": z.object({ events: z.int(), sessions: z.int(), upTo: z.int(), before: Time }),
  "orphan.stop_requested": z.object({ id: z.string(), pid: z.int(), command: z.string() }),
  /** The disk was full, or the run's recorder died and was replaced. The output in between is missing from the recording. */
  "recording.gap": z.object({
    run: RunNumber,
    offset: z.int(),
    bytes: z.nullable(z.int()),
    why: z.string(),
    began: z.optional(Time),
  }),
  /** The oldest output was deleted: `bytes` since the last such event. The recording now begins at `offset`, with `outputPath`. */
  "recording.cut": z.object({ run: RunNumber, offset: z.int(), bytes: z.int(), limit: z.int(), outputPath: z.string() }),
  /** A new epoch began: the database was damaged, missing, or replaced on request. The journal lacks the events that the report names as lost. */
  "journal.restored": RestoreReport,
} as const;

export type EventType = keyof typeof EVENTS;
export type EventData<T extends EventType> = z.infer<(typeof EVENTS)[T]>;

/** Current version of the data of each type. */
export const EVENT_VERSION = 1;

const envelope = {
  epoch: z.string(),
  seq: z.int().check(z.positive()),
  id: z.string(),
  type: z.string(),
  v: z.int().check(z.positive()),
  at: Time,
  actor: Principal,
  session: z.nullable(SessionId),
  machine: z.string(),
};

/** An event on the wire. `data` depends on `type`, which may be unknown to the reader. */
export const AnyEvent = z.object({ ...envelope, data: z.record(z.string(), z.unknown()) });
export type AnyEvent = z.infer<typeof AnyEvent>;

export type HoldfastEvent = {
  [T in EventType]: Omit<AnyEvent, "type" | "data"> & { type: T; data: EventData<T> };
}[EventType];
