import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { AuditEntry, Listening, NewToken, ScopeSchema, Sharing, Token } from "./access.ts";
import { ADOPTION_ENDPOINTS } from "./adoption-endpoints.ts";
import { APPROVAL_ENDPOINTS } from "./approval-endpoints.ts";
import { Backup, RestoreReport } from "./backup.ts";
import { BudgetRequest } from "./budget.ts";
import { CHECKPOINT_ENDPOINTS } from "./checkpoint-endpoints.ts";
import { CONTEXT_ENDPOINTS } from "./context-endpoints.ts";
import { CONVERSATION_ENDPOINTS } from "./conversation-endpoints.ts";
import { DIGEST_ENDPOINTS } from "./digest-endpoints.ts";
import type { Endpoint } from "./endpoint.ts";
import { AnyEvent } from "./events.ts";
import { Explanation } from "./evidence.ts";
import { FORK_ENDPOINTS } from "./fork-endpoints.ts";
import { GROUP_ENDPOINTS } from "./group-endpoints.ts";
import { Screen } from "./holder.ts";
import { Principal, SessionId } from "./ids.ts";
import { MESSAGE_ENDPOINTS, TypedText, WaitingBytes } from "./message-endpoints.ts";
import { AttachingClient, ControlReply } from "./people.ts";
import { PERSONA_ENDPOINTS } from "./persona-endpoints.ts";
import { PLAN_ENDPOINTS } from "./plan-endpoints.ts";
import { PROGRESS_ENDPOINTS } from "./progress-endpoints.ts";
import { Generation, RestoreItem } from "./restore.ts";
import { type EndpointName, ROUTES } from "./routes.ts";
import { Session, StatusSchema, Time } from "./session.ts";
import { SpawnBody } from "./spawn-request.ts";
import { CONTROLS, ROLES } from "./status.ts";
import { TASK_ENDPOINTS } from "./task-endpoints.ts";
import { TOURNAMENT_ENDPOINTS } from "./tournament-endpoints.ts";
import { USAGE_ENDPOINTS } from "./usage-endpoints.ts";
import { WORKSPACE_ENDPOINTS } from "./workspace-endpoints.ts";

// Without words of its own, zod/mini says of everything only that it is invalid.
z.config(en());

/** A sentence of its own is told as it is (`sentence` in the daemon's `bind.ts`): it begins with a small letter, as none of the library's does. */
const text = z.string().check(z.maxLength(10_000, "a name, a role or an objective has at most 10,000 characters"));
const flag = z._default(z.stringbool(), false);
const wholeNumber = z.pipe(z.string().check(z.regex(/^\d{1,15}$/)), z.transform(Number));

/**
 * Lists in a query are comma-separated: names, ids and statuses cannot contain a comma. An empty part stays and fits nothing: were it
 * left out, `stop "$UNSET"` would name no session and so mean all of them.
 */
const list = z.pipe(
  z.string(),
  z.transform((value) => value.split(",")),
);

/** Which sessions a verb means. Names win over filters; without either it is what the verb says. */
export const Selection = z.object({
  names: z.optional(list),
  all: flag,
  status: z.optional(z.pipe(list, z.array(StatusSchema))),
  agent: z.optional(list),
});
export type Selection = z.infer<typeof Selection>;

/** An agent that can be started, and what was found of it on this machine. */
export const AgentInfo = z.object({
  name: z.string(),
  description: z.string(),
  kind: z.enum(["terminal", "shell"]),
  /** Null: its program is not on the PATH. */
  path: z.nullable(z.string()),
  /** Null: it was not found, not asked, or does not say. */
  version: z.nullable(z.string()),
  /** Its version is not known yet: it was asked and has not said so in the time that was given. */
  asking: z.boolean(),
  /** False: never tried with the real program; no status beyond that of its process. */
  tested: z.boolean(),
  /** From config.toml. */
  own: z.boolean(),
  takesPrompt: z.boolean(),
  resumes: z.boolean(),
  /** The program that speaks the Agent Client Protocol for it; null: there is none, or it was not found. */
  structured: z.nullable(z.string()),
});
export type AgentInfo = z.infer<typeof AgentInfo>;

/** Whether the machine is kept from falling asleep now, by which program, and what keeps it from that. */
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
  /** `lost`: of those that have ended, how many a restore would bring back. */
  sessions: z.object({ running: z.int(), ended: z.int(), lost: z.int() }),
  /** The newest, when it was taken in this life of the daemon or before; null without any. */
  backup: z.nullable(Backup),
  /** How the epoch came about, where a restore began it. */
  restored: z.nullable(z.extend(RestoreReport, { at: Time })),
  /** Over TCP; null when it was not asked for. */
  listen: z.nullable(Listening),
  /** With other users of this machine; null when it was not asked for. */
  share: z.nullable(Sharing),
  /** Null: it is not wanted (keep_awake in config.toml). */
  keepAwake: z.nullable(KeptAwake),
  /** What in the configuration means nothing, in words. */
  warnings: z.array(z.string()),
  /** Who asks, and what they may do. */
  actor: Principal,
  scope: ScopeSchema,
  tmux: z.nullable(z.object({ path: z.string(), version: z.string(), socket: z.string(), pid: z.nullable(z.int()) })),
});
export type DaemonStatus = z.infer<typeof DaemonStatus>;

/** `unread`: how many messages wait for whoever asks. */
export const SessionList = z.object({ cursor: z.string(), sessions: z.array(Session), unread: z.int() });
export type SessionList = z.infer<typeof SessionList>;

/**
 * How to become a client of a session: replace yourself by `command` (tmux), or speak the holder protocol on `socket` (native), or,
 * when `switched`, do nothing more. `detachBytes` and `nextBytes`: the forms in which a terminal may send the key that detaches, and the one that goes
 * to the next session that waits.
 */
export const AttachPlan = z.object({
  session: Session,
  switched: z.boolean(),
  /** What it will be, as long as nobody is faster. */
  role: z.enum(ROLES),
  /** Who drives instead, where that is why it can only look. */
  driver: z.nullable(Principal),
  command: z.nullable(z.array(z.string())),
  socket: z.nullable(z.string()),
  detachKey: z.string(),
  detachBytes: z.array(z.string()),
  nextKey: z.string(),
  nextBytes: z.array(z.string()),
});
export type AttachPlan = z.infer<typeof AttachPlan>;

const Stopped = z.object({ session: Session, killed: z.array(z.object({ pid: z.int(), name: z.string(), signal: z.string() })) });

/** `tree`: what descends from it and was stopped with it, where that was asked for. */
export const StopReply = z.extend(Stopped, { tree: z.array(Stopped) });
export type StopReply = z.infer<typeof StopReply>;

/**
 * Something that runs under this home without a record that says so: a run that a keeper keeps, or a process that outlived its run.
 * Never touched unless somebody asks.
 */
export const Orphan = z.object({
  id: z.string(),
  kind: z.enum(["run", "process"]),
  session: z.nullable(z.string()),
  run: z.nullable(z.int()),
  pid: z.int(),
  command: z.string(),
  why: z.string(),
  adoptable: z.boolean(),
});
export type Orphan = z.infer<typeof Orphan>;

export const Finding = z.object({
  id: z.string(),
  level: z.enum(["ok", "note", "warning", "problem"]),
  what: z.string(),
  remedy: z.nullable(z.string()),
  fixed: z.boolean(),
});
export type Finding = z.infer<typeof Finding>;

/** A session that pruning removes or keeps. `why`: its `age` or the `size` of all; or that it runs, is unseen, or is within the policy. */
export const PruneVerdict = z.object({
  id: SessionId,
  name: z.string(),
  status: StatusSchema,
  endedAt: z.nullable(Time),
  viewedAt: z.nullable(Time),
  bytes: z.int(),
  why: z.enum(["age", "size", "running", "unseen", "policy", "not_named"]),
});
export type PruneVerdict = z.infer<typeof PruneVerdict>;

export const PruneReply = z.object({
  /** What was applied; null: that one not. */
  policy: z.object({ olderThanMs: z.nullable(z.number()), keepBytes: z.nullable(z.number()) }),
  removed: z.array(PruneVerdict),
  kept: z.array(PruneVerdict),
  dryRun: z.boolean(),
});
export type PruneReply = z.infer<typeof PruneReply>;

/** Bytes of files, not blocks. `otherBytes` of a session: what its runs start from and how they ended. */
export const DiskUse = z.object({
  home: z.string(),
  sessions: z.array(
    z.object({
      id: z.string(),
      /** Null for files without a record. */
      name: z.nullable(z.string()),
      status: z.nullable(StatusSchema),
      recordingBytes: z.int(),
      transcriptBytes: z.int(),
      otherBytes: z.int(),
      totalBytes: z.int(),
    }),
  ),
  journalBytes: z.int(),
  backupBytes: z.int(),
  damagedBytes: z.int(),
  workspaceBytes: z.int(),
  otherBytes: z.int(),
  totalBytes: z.int(),
});
export type DiskUse = z.infer<typeof DiskUse>;

const SESSION_ERRORS = ["session_not_found", "session_ambiguous"] as const;

export const TimeSample = z.object({
  /** At this time (milliseconds since 1970) the recording had `offset` bytes; null: when the bytes up to there came is not known. */
  at: z.nullable(z.int()),
  offset: z.int(),
  /** The terminal's size from here on. */
  columns: z.optional(z.int()),
  rows: z.optional(z.int()),
  /** By so many milliseconds the clock was set since the sample before; forward is positive. */
  stepMs: z.optional(z.int()),
});
export type TimeSample = z.infer<typeof TimeSample>;

/** Output that was never recorded: the recording goes on at `offset` with what came after it. */
export const RecordingGap = z.object({
  offset: z.int(),
  /** Null: nobody knows. */
  bytes: z.nullable(z.int()),
  why: z.string(),
  /** When; null: nobody knows. */
  began: z.nullable(Time),
});
export type RecordingGap = z.infer<typeof RecordingGap>;

/** What the next run does: goes on with a conversation, begins a new one, or runs the same command again. */
export const ResumedSchema = z.enum(["conversation", "fresh", "command"]);
export type Resumed = z.infer<typeof ResumedSchema>;

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
    summary: "Ends the daemon; with `all` every session and keeper first.",
    scope: "owner",
    body: z.object({
      all: z._default(z.boolean(), false),
      graceMs: z._default(z.number().check(z.minimum(0)), 5000),
      why: z._default(z.enum(["asked", "replaced"]), "asked"),
    }),
    /** `orphans`: what ran without a record and was ended with the rest. */
    reply: z.object({ pid: z.int(), stopped: z.array(Session), orphans: z.array(Orphan) }),
    errors: ["stop_incomplete"],
  },
  listSessions: {
    ...ROUTES.listSessions,
    summary: "Sessions with the cursor of this snapshot; running ones unless `all`, `status` or `names` says otherwise.",
    scope: "observer",
    reach: "own",
    query: z.extend(Selection, { usage: flag }),
    reply: SessionList,
    errors: SESSION_ERRORS,
  },
  spawn: {
    ...ROUTES.spawn,
    summary: "Starts a session and answers once its program runs.",
    scope: "driver",
    reach: "own",
    body: SpawnBody,
    /** `notes`: what whoever asked should know of the workspace that was made for it. */
    reply: z.extend(Session, { notes: z.array(z.string()) }),
    errors: [
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
      "group_full",
    ],
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
    summary: "Gives a session another name.",
    scope: "driver",
    reach: "own",
    body: z.object({ name: text }),
    reply: Session,
    errors: [...SESSION_ERRORS, "invalid_name", "name_taken"],
  },
  removeSession: {
    ...ROUTES.removeSession,
    summary: "Removes the record and the files of an ended session; an adopted one that runs is let go, and its agent goes on.",
    scope: "owner",
    reply: Session,
    errors: [...SESSION_ERRORS, "session_running", "host_failed"],
  },
  resumeSession: {
    ...ROUTES.resumeSession,
    summary: "Starts the next run of a session that has ended, with the agent's own conversation; `fresh` begins a new one.",
    scope: "driver",
    reach: "own",
    body: z.object({ fresh: z._default(z.boolean(), false), conversation: z.optional(text), budget: z.optional(BudgetRequest) }),
    reply: z.extend(Session, { resumed: ResumedSchema }),
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
  ...FORK_ENDPOINTS,
  stopSession: {
    ...ROUTES.stopSession,
    summary:
      "SIGTERM to every process of the run, SIGKILL after the grace period; answers when all are gone. With `tree` also everything that descends from it, whether it runs itself or not.",
    scope: "driver",
    reach: "own",
    body: z.object({
      graceMs: z._default(z.number().check(z.minimum(0), z.maximum(3_600_000)), 5000),
      tree: z._default(z.boolean(), false),
    }),
    reply: StopReply,
    errors: [...SESSION_ERRORS, "session_ended", "stop_incomplete"],
  },
  attachSession: {
    ...ROUTES.attachSession,
    summary:
      "What the caller's terminal must become to attach; moves a client that is on our server already. While somebody drives, and for an observer's token, it can only look, unless it may `take`.",
    scope: "observer",
    reach: "own",
    body: z.object({
      readOnly: z._default(z.boolean(), false),
      take: z._default(z.boolean(), false),
      /** The run in whose terminal this is asked, which is to be moved over. */
      from: z.nullable(z.string()),
      /** Who it is that becomes the session's client; without it, an attachment is the OS user's. */
      client: z.optional(AttachingClient),
    }),
    reply: AttachPlan,
    errors: [...SESSION_ERRORS, "session_ended", "host_missing", "control_held"],
  },
  detachSession: {
    ...ROUTES.detachSession,
    summary: "Sends every client of a session away; the session goes on.",
    scope: "driver",
    reach: "own",
    body: z.object({}),
    reply: z.object({ session: Session, detached: z.int() }),
    errors: [...SESSION_ERRORS, "session_ended"],
  },
  controlSession: {
    ...ROUTES.controlSession,
    summary:
      "Who drives: `request` asks whoever does, `give` hands it over (`to` a principal or an attachment), `take` takes it. Closed to sessions.",
    scope: "driver",
    body: z.object({ action: z.enum(CONTROLS), to: z.optional(text) }),
    reply: ControlReply,
    errors: [...SESSION_ERRORS, "session_ended", "not_attached", "control_held", "forbidden"],
  },
  handOverSession: {
    ...ROUTES.handOverSession,
    summary:
      "Gives a session, with its whole history, to another principal: `user:NAME` or `token:NAME`. By its owner, or an owner's scope.",
    scope: "driver",
    body: z.object({
      to: text,
      note: z.optional(z.string().check(z.maxLength(10_000, "a note has at most 10,000 characters; put a longer one into a file"))),
    }),
    reply: Session,
    errors: [...SESSION_ERRORS, "principal_unknown", "forbidden"],
  },
  openTerminal: {
    ...ROUTES.openTerminal,
    summary:
      "Attaches through the daemon, for those who cannot reach the session itself: an upgrade to `holdfast`, then the frames of the holder protocol; the first is a message `attached` with the plan.",
    scope: "observer",
    reach: "own",
    query: z.object({ readOnly: flag, take: flag, terminal: z.optional(z.string().check(z.maxLength(200))) }),
    reply: "terminal",
    errors: [...SESSION_ERRORS, "session_ended", "host_missing", "control_held"],
  },
  sendText: {
    ...ROUTES.sendText,
    summary: "Types text into a session's program in one piece: as a paste where the program takes pastes, then Enter.",
    scope: "driver",
    reach: "own",
    body: z.object({
      text: TypedText,
      enter: z._default(z.boolean(), true),
      force: z._default(z.boolean(), false),
    }),
    reply: z.object({ session: Session, bytes: z.int(), pasted: z.boolean(), waitingBytes: WaitingBytes }),
    errors: [...SESSION_ERRORS, "session_ended", "paste_refused", "input_full", "control_held"],
  },
  ...MESSAGE_ENDPOINTS,
  pressKeys: {
    ...ROUTES.pressKeys,
    summary: "Presses keys by name, one after the other.",
    scope: "driver",
    reach: "own",
    body: z.object({
      keys: z
        .array(z.string().check(z.maxLength(20, "no key has a name so long; holdfast keys --help names them")))
        .check(z.minLength(1, "say which keys"), z.maxLength(1000, "at most 1000 keys at once")),
    }),
    reply: z.object({ session: Session, pressed: z.int(), waitingBytes: WaitingBytes }),
    errors: [...SESSION_ERRORS, "session_ended", "usage", "input_full", "control_held"],
  },
  getScreen: {
    ...ROUTES.getScreen,
    summary: "What a person would see now: the screen's lines, size, cursor and title.",
    scope: "observer",
    reach: "own",
    reply: Screen,
    errors: [...SESSION_ERRORS, "session_ended"],
  },
  explainSession: {
    ...ROUTES.explainSession,
    summary: "Why a session has its status: what is believed of each axis, by which evidence, and what was seen besides.",
    scope: "observer",
    reach: "own",
    reply: z.object({ session: Session, explanation: Explanation }),
    errors: SESSION_ERRORS,
  },
  readOutput: {
    ...ROUTES.readOutput,
    summary:
      "The recording of a run as raw bytes from an offset, or all that is kept; with `follow` until the run has ended. A reader that the limit has overtaken is cut off, and refused when it comes back. With `untilGap` it ends before the first hole at this offset or a later one, which getRecording then names.",
    scope: "observer",
    reach: "own",
    query: z.object({
      run: z.optional(wholeNumber),
      from: z.optional(wholeNumber),
      since: z.optional(wholeNumber),
      follow: flag,
      untilGap: z.optional(wholeNumber),
    }),
    reply: "bytes",
    errors: [...SESSION_ERRORS, "usage", "recording_cut"],
  },
  getRecording: {
    ...ROUTES.getRecording,
    summary: "What is recorded of a run: where it begins and ends in bytes, and the terminal's sizes.",
    scope: "observer",
    reach: "own",
    query: z.object({ run: z.optional(wholeNumber), since: z.optional(wholeNumber), from: z.optional(wholeNumber) }),
    reply: z.object({
      /** The session's id: its name may change while somebody reads. */
      session: z.string(),
      run: z.int(),
      /** Where it ends: how many bytes were recorded in all. */
      bytes: z.int(),
      /** Where it begins: how many of those have been deleted. With `from`: the first byte from there on that is kept. */
      begins: z.int(),
      /** Above it the oldest output is deleted; null: everything is kept. */
      limitBytes: z.nullable(z.int()),
      /** The offset at which `since` (milliseconds since 1970) falls; 0 without it. May lie before the beginning. */
      from: z.int(),
      sizes: z.array(z.object({ offset: z.int(), columns: z.int(), rows: z.int() })),
      /** In order, from the beginning of what is kept on. */
      gaps: z.array(RecordingGap),
      ended: z.boolean(),
      /** Of the first sample, in milliseconds since 1970; null when nothing has a time. */
      startedAt: z.nullable(z.int()),
      /** From the first sample to the last; a clock that was set back does not count. */
      durationMs: z.int(),
    }),
    errors: [...SESSION_ERRORS, "usage"],
  },
  listTimes: {
    ...ROUTES.listTimes,
    summary: "When which byte of a recording came, and how large the terminal was, page by page.",
    scope: "observer",
    reach: "own",
    query: z.object({ run: z.optional(wholeNumber), after: z._default(wholeNumber, 0) }),
    reply: z.object({
      samples: z.array(TimeSample),
      /** The `after` of the next page. */
      next: z.int(),
      more: z.boolean(),
    }),
    errors: [...SESSION_ERRORS, "usage"],
  },
  viewSession: {
    ...ROUTES.viewSession,
    summary: "Says that somebody has looked at a session; the first time after its end is recorded, and allows pruning it.",
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
  listGenerations: {
    ...ROUTES.listGenerations,
    summary: "What ran each time the machine, or what keeps sessions, went down; newest first. `due`: those that have not come back yet.",
    scope: "observer",
    reply: z.object({
      generations: z.array(Generation),
      due: z.array(RestoreItem),
      last: z.nullable(z.object({ at: Time, auto: z.boolean(), items: z.array(RestoreItem) })),
    }),
    errors: [],
  },
  restoreSessions: {
    ...ROUTES.restoreSessions,
    summary:
      "Starts the next run of every session that was lost and has not come back; answers when each shows that it is back, or does not.",
    scope: "driver",
    body: z.object({
      dryRun: z._default(z.boolean(), false),
      /** Those of this time, with the conversations they were in then. */
      generation: z.optional(z.int()),
      names: z.optional(z.array(text)),
    }),
    reply: z.object({ generation: z.nullable(z.int()), items: z.array(RestoreItem) }),
    errors: [...SESSION_ERRORS, "generation_not_found", "restore_running"],
  },
  ...TOURNAMENT_ENDPOINTS,
  prune: {
    ...ROUTES.prune,
    summary:
      "Removes ended sessions by age and total size, as configured or as said here; never running ones, nor ones nobody has looked at.",
    scope: "owner",
    body: z.object({
      dryRun: z._default(z.boolean(), false),
      /** Ended longer ago than this. With one of the two, only that one is applied. */
      olderThanMs: z.optional(z.number().check(z.minimum(0))),
      /** The oldest go until all ended sessions together take no more than this. */
      keepBytes: z.optional(z.number().check(z.minimum(0))),
      /** Only conversations, by their own age where nothing is said here. */
      conversations: z._default(z.boolean(), false),
      /** Of what would go, only these. */
      only: z.optional(z.array(SessionId)),
    }),
    reply: PruneReply,
    errors: [],
  },
  diskUse: {
    ...ROUTES.diskUse,
    summary: "What takes how much room in the home, largest sessions first.",
    scope: "observer",
    reply: DiskUse,
    errors: [],
  },
  listAgents: {
    ...ROUTES.listAgents,
    summary:
      "The agents that can be started, looked for on the caller's PATH; with `versions` each is asked for its own, and waited for at most `waitMs`.",
    // Asking one for its version runs it, and the caller says where it is looked for: whoever may do that may as well start it.
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
  listOrphans: {
    ...ROUTES.listOrphans,
    summary: "What runs under this home without a record that says so.",
    scope: "observer",
    reply: z.object({ orphans: z.array(Orphan) }),
    errors: [],
  },
  adoptOrphan: {
    ...ROUTES.adoptOrphan,
    summary: "Makes an orphaned run a session again.",
    scope: "owner",
    body: z.object({}),
    reply: Session,
    errors: ["orphan_not_found", "orphan_not_adoptable"],
  },
  stopOrphan: {
    ...ROUTES.stopOrphan,
    summary: "Ends an orphan with everything it started.",
    scope: "owner",
    body: z.object({ graceMs: z._default(z.number().check(z.minimum(0), z.maximum(3_600_000)), 5000) }),
    reply: z.object({ orphan: Orphan, killed: z.array(z.object({ pid: z.int(), name: z.string(), signal: z.string() })) }),
    errors: ["orphan_not_found", "stop_incomplete"],
  },
  examine: {
    ...ROUTES.examine,
    summary: "Looks for what is wrong or will be; with `fix` mends what can be mended safely.",
    scope: "owner",
    body: z.object({ fix: z._default(z.boolean(), false) }),
    reply: z.object({ findings: z.array(Finding) }),
    errors: [],
  },
  listBackups: {
    ...ROUTES.listBackups,
    summary: "Copies of the journal that can be restored, newest first.",
    scope: "observer",
    reply: z.object({ backups: z.array(Backup) }),
    errors: [],
  },
  createBackup: {
    ...ROUTES.createBackup,
    summary: "Takes a verified copy of the journal now, while everything goes on.",
    scope: "owner",
    body: z.object({}),
    reply: Backup,
    errors: ["backup_failed", "journal_damaged"],
  },
  restoreBackup: {
    ...ROUTES.restoreBackup,
    summary: "Replaces the journal by a backup, after taking one; the daemon starts anew, with a new epoch. Sessions go on.",
    scope: "owner",
    body: z.object({}),
    reply: z.object({ backup: Backup, before: Backup, pid: z.int() }),
    errors: ["backup_not_found", "backup_unusable", "backup_failed", "journal_damaged"],
  },
  listEvents: {
    ...ROUTES.listEvents,
    summary: "Events after a cursor, at most `limit`.",
    scope: "observer",
    reach: "own",
    query: z.object({
      after: z.optional(z.string()),
      session: z.optional(z.string()),
      type: z.optional(list),
      limit: z._default(wholeNumber, 1000),
    }),
    reply: z.object({ cursor: z.string(), events: z.array(AnyEvent), more: z.boolean() }),
    errors: [...SESSION_ERRORS, "usage", "cursor_gone"],
  },
  followEvents: {
    ...ROUTES.followEvents,
    summary: "Events after a cursor and from then on, as SSE; `id` is the cursor to come back with.",
    scope: "observer",
    reach: "own",
    query: z.object({ after: z.optional(z.string()), session: z.optional(z.string()), type: z.optional(list) }),
    reply: "events",
    errors: [...SESSION_ERRORS, "usage", "cursor_gone"],
  },
  socketEvents: {
    ...ROUTES.socketEvents,
    summary:
      "The same as a WebSocket: each text frame is an event as JSON. A browser says `holdfast` and `token.TOKEN` as its protocols; TOKEN never goes into an address.",
    scope: "observer",
    reach: "own",
    query: z.object({ after: z.optional(z.string()), session: z.optional(z.string()), type: z.optional(list) }),
    reply: "socket",
    errors: [...SESSION_ERRORS, "usage", "cursor_gone"],
  },
  listAudit: {
    ...ROUTES.listAudit,
    summary: "Who did what, and what was refused, oldest first; at most `limit`.",
    scope: "observer",
    query: z.object({
      after: z.optional(z.string()),
      /** Milliseconds since 1970. */
      since: z.optional(wholeNumber),
      actor: z.optional(list),
      limit: z._default(wholeNumber, 1000),
    }),
    reply: z.object({ cursor: z.string(), entries: z.array(AuditEntry), more: z.boolean() }),
    errors: ["usage", "cursor_gone"],
  },
  listTokens: {
    ...ROUTES.listTokens,
    summary: "Named tokens, revoked ones too; never their text.",
    scope: "owner",
    reply: z.object({ tokens: z.array(Token) }),
    errors: [],
  },
  createToken: {
    ...ROUTES.createToken,
    summary: "Makes a token and tells its text, once.",
    scope: "owner",
    body: z.object({
      scope: ScopeSchema,
      name: z.optional(text),
      /** From now; without it the token is good until it is revoked. */
      expiresInMs: z.optional(z.number().check(z.minimum(1), z.maximum(100 * 365 * 86_400_000))),
    }),
    reply: NewToken,
    errors: ["invalid_name", "name_taken"],
  },
  revokeToken: {
    ...ROUTES.revokeToken,
    summary: "Ends a token by name or id, and every stream that was opened with it.",
    scope: "owner",
    reply: Token,
    errors: ["token_not_found"],
  },
  setSharing: {
    ...ROUTES.setSharing,
    summary: "Opens a second socket for the users of a group, from now on and after each restart; null closes it. Always with a token.",
    scope: "owner",
    body: z.object({ group: z.nullable(text) }),
    reply: z.object({ share: z.nullable(Sharing) }),
    errors: ["usage", "address_unusable"],
  },
  setListening: {
    ...ROUTES.setListening,
    summary: "Listens on a TCP address too, from now on and after each restart; null ends it. Port 0 picks one. Always with a token.",
    scope: "owner",
    body: z.object({ address: z.nullable(text), insecurePublic: z._default(z.boolean(), false) }),
    reply: z.object({ listen: z.nullable(Listening) }),
    errors: ["usage", "address_public", "address_unusable"],
  },
} as const satisfies Record<EndpointName, Endpoint>;
