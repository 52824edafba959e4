/** Journal events of sessions and their runs. */
import * as z from "zod/mini";
import { Principal, RunNumber, SessionId, WorkspaceId } from "../ids.ts";
import { Evidence } from "./evidence.ts";
import { Attention, CauseSchema, Exit, ForkedFrom, GivenUpSchema, StatusSchema, Time } from "./session.ts";
import { HostSchema, RecordedSpec } from "./spec.ts";
import { PROMPT_FATES, TURNS } from "./status.ts";

const Row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

const recorded = {
  ...RecordedSpec.shape,
  /** The id that the agent was given for its conversation. */
  conversation: z.optional(z.nullable(z.string())),
  /** The session's workspace, if Holdfast manages one. */
  workspace: z.optional(z.nullable(WorkspaceId)),
  /** The session whose conversation was copied. */
  forkedFrom: z.optional(z.nullable(ForkedFrom)),
};

export const SESSION_EVENTS = {
  "session.created": z.object({
    ...recorded,
    /** The first run gets a first prompt. Absent in events of the first versions. */
    prompted: z.optional(z.boolean()),
    /** For an adopted session: its process, and its pane in a user's own tmux server, if any. */
    adopted: z.optional(z.object({ pid: z.int(), socket: z.nullable(z.string()), pane: z.nullable(z.string()) })),
    /** False: only recorded; `session.run_created` begins its first run. */
    start: z.optional(z.literal(false)),
  }),
  /**
   * The record was lost with a damaged journal and rebuilt from the session's files. `exit` and `endedAt` are null for a run that may still be alive.
   */
  "session.rebuilt": z.object({
    ...recorded,
    conversations: z.optional(z.array(z.string())),
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
  /** Somebody typed. Records the amount, never the content. */
  "session.input_requested": z.object({ run: RunNumber, bytes: z.nullable(z.int()), keys: z.nullable(z.int()) }),
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
  "orphan.stop_requested": z.object({ id: z.string(), pid: z.int(), command: z.string() }),
} as const;
