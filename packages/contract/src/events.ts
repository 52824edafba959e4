import * as z from "zod/mini";
import { ScopeSchema } from "./access.ts";
import { Asked, DecisionSchema } from "./approval.ts";
import { RestoreReport } from "./backup.ts";
import { BUDGET_EVENTS, Budget } from "./budget.ts";
import { CHECKPOINT_EVENTS } from "./checkpoint.ts";
import { ContextFileSchema } from "./context.ts";
import { CONVERSATION_EVENTS } from "./conversation.ts";
import { DIGEST_EVENTS } from "./digest.ts";
import { Evidence } from "./evidence.ts";
import { GROUP_EVENTS } from "./group.ts";
import { Principal, RunNumber, SessionId, WorkspaceId } from "./ids.ts";
import { MESSAGE_EVENTS } from "./message.ts";
import { PEOPLE_EVENTS } from "./people.ts";
import { PLAN_EVENTS } from "./plan.ts";
import { RESTORE_EVENTS } from "./restore.ts";
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
} from "./session.ts";
import { PROMPT_FATES, RESOLVED, TURNS } from "./status.ts";
import { TASK_EVENTS } from "./task.ts";
import { TOURNAMENT_EVENTS } from "./tournament.ts";
import { TRUST_EVENTS } from "./trust.ts";
import { USAGE_EVENTS } from "./usage.ts";
import { WORKSPACE_EVENTS } from "./workspace.ts";

const Row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

/**
 * Facts in the journal, in the past tense. A type's data only ever gains optional fields; what would break a reader
 * gets a new `v`. Readers ignore types and fields they do not know. docs/EVENTS.md has a line for each.
 */
export const EVENTS = {
  "daemon.started": z.object({ pid: z.int(), version: z.string(), node: z.string(), boot: z.optional(z.string()) }),
  "daemon.stopped": z.object({ pid: z.int(), why: z.enum(["asked", "replaced", "signal", "restore"]) }),
  /** Over TCP from now on, or, with null, no longer. */
  "daemon.listening": z.object({ address: z.nullable(z.string()), public: z.boolean() }),
  /** By a second socket, to users of the group, from now on; or, with null, no longer. */
  "daemon.shared": z.object({ group: z.nullable(z.string()), socket: z.string() }),
  /** Only the hash of its text is kept, here and everywhere. */
  "token.created": z.object({ id: z.string(), name: z.string(), scope: ScopeSchema, hash: z.string(), expiresAt: z.nullable(Time) }),
  "token.revoked": z.object({ id: z.string(), name: z.string() }),
  /** It stays expired, also when the clock is set back. */
  "token.expired": z.object({ id: z.string(), name: z.string() }),
  /** A request of a known principal was refused. The same again within a minute is only counted, as `more` of the next. */
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
    /** Of each run; 0 keeps everything, absent as configured. */
    recordingLimitBytes: z.optional(z.int()),
    budget: z.optional(Budget),
    /** The session that started it. */
    parent: z.optional(z.nullable(SessionId)),
    /** What it answers, and how it ends, is told to that one. */
    report: z.optional(z.boolean()),
    /** The id that the agent was given for its conversation. */
    conversation: z.optional(z.nullable(z.string())),
    /** Its first run is handed a first prompt; absent in the events of the first versions. */
    prompted: z.optional(z.boolean()),
    /** Where it works, if that is one of ours. */
    workspace: z.optional(z.nullable(WorkspaceId)),
    /** Whose conversation it carries on a copy of. */
    forkedFrom: z.optional(z.nullable(ForkedFrom)),
    /** Of one that was started outside and adopted: its process, and the pane of somebody's own tmux server where it is in one. */
    adopted: z.optional(z.object({ pid: z.int(), socket: z.nullable(z.string()), pane: z.nullable(z.string()) })),
    /** False: only recorded; `session.run_created` begins its first run. */
    start: z.optional(z.literal(false)),
  }),
  /** Its record was lost with a damaged journal; this is what its files say. `exit` and `endedAt` are null for a run that may live. */
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
    /** By its policy; because somebody asked; after everything that ran was lost; or the first run of a session that was only created. */
    why: z.enum(["restart", "resume", "restore", "start"]),
    /** What it was to go on with; absent where it begins anew, or the agent is told nothing. */
    conversation: z.optional(z.string()),
    /** Where it runs from now on, if that is elsewhere: what was adopted is started again by us. */
    host: z.optional(HostSchema),
    /** What happens with the first prompt of a session that has one; see PROMPT_FATES. Absent without one, and where it is in the conversation. */
    prompt: z.optional(z.enum(PROMPT_FATES)),
  }),
  /** `due` is the same moment on the clock that nobody sets: boot and milliseconds since. */
  "session.restart_scheduled": z.object({ run: RunNumber, at: Time, quickEnds: z.int(), due: z.optional(z.nullable(z.string())) }),
  /** No further run: it ended too often too quickly, somebody stopped it, or its files are damaged. */
  "session.restart_abandoned": z.object({
    /** `restored`: the journal lost what came before the end of `run`, and with it perhaps that somebody had stopped it. */
    why: GivenUpSchema,
    quickEnds: z.int(),
    run: z.optional(RunNumber),
  }),
  /** `startedAt` where it was found later than it happened: the daemon died in between. */
  "session.started": z.object({
    run: RunNumber,
    pid: z.int(),
    pidStart: z.string(),
    outputPath: z.string(),
    startedAt: z.optional(Time),
  }),
  /** A run that its keeper still kept, though no record said so, belongs to the session again. */
  "session.adopted": z.object({ run: RunNumber, pid: z.int(), pidStart: z.string(), outputPath: z.string() }),
  /**
   * What the agent is doing is something else than before, on one axis or more; null: unknown. `since`: since when the status, or what it
   * waits for, is this. `turnBegan`: a turn began with it. `evidence`: all that is known now.
   */
  "session.status_changed": z.object({
    run: RunNumber,
    status: StatusSchema,
    since: Time,
    /** The same moment on the clock that nobody sets: boot and milliseconds since. */
    sinceBoot: z.nullable(z.string()),
    turn: z.nullable(z.enum(TURNS)),
    attention: z.nullable(Attention),
    background: z.nullable(z.boolean()),
    hung: z.boolean(),
    turnBegan: z.boolean(),
    evidence: z.array(Evidence),
  }),
  /** Its agent says how far it is. */
  /** An agent's own files tell of more turns in a conversation than were seen to begin: `turns` in all, of which `missed` were not seen. */
  "session.turns_counted": z.object({ run: RunNumber, conversation: z.string(), turns: z.int(), missed: z.int() }),
  "session.progress_reported": z.object({ text: z.string(), done: z.nullable(z.number()), total: z.nullable(z.number()) }),
  /** The agent said which conversation it is in. */
  /** `begun`: it was given to the agent to begin with, and is empty. */
  "session.conversation_changed": z.object({ run: RunNumber, conversation: z.string(), begun: z.optional(z.boolean()) }),
  /** The agent asked for leave, or for an answer, and waits. `ask`: its hook, by the name of the file it waits on; `dialog`: what its screen showed. */
  "approval.requested": z.extend(Asked, { ask: z.nullable(z.string()), dialog: z.nullable(z.string()) }),
  /** The actor decided, and keys are about to be pressed in the dialog on the agent's screen; that they were taken is another fact. */
  "approval.answering": z.object({ id: z.string(), run: RunNumber, decision: DecisionSchema, text: z.string() }),
  /** The actor decided: somebody, or a rule. From now on the agent is told so, also by the next daemon. */
  "approval.answered": z.object({
    id: z.string(),
    run: RunNumber,
    decision: DecisionSchema,
    reason: z.nullable(z.string()),
    /** What was asked for, in one line. */
    text: z.string(),
    /** Also from now on, by the agent's own rules. */
    always: z.optional(z.boolean()),
  }),
  /** The answer had no effect: the agent still asks, on its own screen, where it is answered from now on. */
  "approval.reopened": z.object({ id: z.string(), run: RunNumber, text: z.string(), dialog: z.nullable(z.string()) }),
  /** Over without an answer from the inbox. */
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
  /** Those files of a Working Context that were missing were laid out, because somebody asked for it. */
  "context.created": z.object({ root: z.string(), files: z.array(ContextFileSchema) }),
  "context.written": z.object({ root: z.string(), file: ContextFileSchema, bytes: z.int() }),
  /** Somebody types: how much, never what. */
  "session.input_requested": z.object({ run: RunNumber, bytes: z.nullable(z.int()), keys: z.nullable(z.int()) }),
  ...PEOPLE_EVENTS,
  ...GROUP_EVENTS,
  "session.stop_requested": z.object({ run: RunNumber, graceMs: z.number() }),
  /** The run is about to be ended for it. */
  "session.limit_exceeded": z.object({ run: RunNumber, limit: z.enum(["memory"]), used: z.int(), allowed: z.int() }),
  /**
   * `exit` is null when the run vanished with its keeper, or never began. `bytes`: how many were recorded in all. `durationMs` is by a
   * clock that nobody sets; null when it is not known.
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
  /** Somebody looked at the session for the first time since it ended: from now on it may be pruned. */
  "session.viewed": z.object({ run: RunNumber }),
  "session.renamed": z.object({ from: z.string(), name: z.string() }),
  /**
   * `why`: somebody asked (the default), or the policy's age or size. `bytes`: what its files took. `parent`: whose child it was, so that
   * the parent still hears of it.
   */
  "session.removed": z.object({
    name: z.string(),
    why: z.optional(z.enum(["asked", "age", "size"])),
    bytes: z.optional(z.int()),
    parent: z.optional(z.nullable(SessionId)),
  }),
  /** Its parent was removed: it is the child of that one's parent now, or of nobody. */
  "session.reparented": z.object({ from: SessionId, parent: z.nullable(SessionId) }),
  /** The session as it was when older events of it were deleted: rows of the tables, whole. */
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
  /** Old events were deleted: those up to `upTo` have gaps. */
  "journal.pruned": z.object({ events: z.int(), sessions: z.int(), upTo: z.int(), before: Time }),
  "orphan.stop_requested": z.object({ id: z.string(), pid: z.int(), command: z.string() }),
  /** The disk was full, or the run's recorder died and was replaced: what the program wrote in between is not in the recording. */
  "recording.gap": z.object({
    run: RunNumber,
    offset: z.int(),
    bytes: z.nullable(z.int()),
    why: z.string(),
    began: z.optional(Time),
  }),
  /** The oldest output was deleted: `bytes` since the last such event. The recording now begins at `offset`, with `outputPath`. */
  "recording.cut": z.object({ run: RunNumber, offset: z.int(), bytes: z.int(), limit: z.int(), outputPath: z.string() }),
  /** A new epoch began: the database was damaged, missing, or replaced on request. What it names as lost is not in the journal. */
  "journal.restored": RestoreReport,
} as const;

export type EventType = keyof typeof EVENTS;
export type EventData<T extends EventType> = z.infer<(typeof EVENTS)[T]>;

/** The version written today for each type; 1 unless listed. */
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

/** An event as it comes over the wire: `data` belongs to `type`, which may be one this reader does not know. */
export const AnyEvent = z.object({ ...envelope, data: z.record(z.string(), z.unknown()) });
export type AnyEvent = z.infer<typeof AnyEvent>;

export type HoldfastEvent = {
  [T in EventType]: Omit<AnyEvent, "type" | "data"> & { type: T; data: EventData<T> };
}[EventType];
