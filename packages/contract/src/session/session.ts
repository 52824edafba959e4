import * as z from "zod/mini";
import { Principal, SessionId, WorkspaceId } from "../ids.ts";
import { ROLES } from "../terminal/enums.ts";
import { BudgetState } from "../usage/budget.ts";
import { Spent } from "../usage/spent.ts";
import { SessionSpec } from "./spec.ts";
import { CAUSES, GIVEN_UP, STATUSES, TURNS, WAITS } from "./status.ts";

export const StatusSchema = z.enum(STATUSES);
export const CauseSchema = z.enum(CAUSES);
export const GivenUpSchema = z.enum(GIVEN_UP);

/** Both are null if the keeper could not tell how the program ended. */
export const Exit = z.object({ code: z.nullable(z.int()), signal: z.nullable(z.string()) });
export type Exit = z.infer<typeof Exit>;

/** Processor time of all processes since their start, resident memory, and the number of processes. */
export const Usage = z.object({ cpuMs: z.number(), memoryBytes: z.int(), processes: z.int() });
export type Usage = z.infer<typeof Usage>;

/** A process that outlived its run; `isProgram`: the session's program itself. */
export const LeftProcess = z.object({ pid: z.int(), command: z.string(), isProgram: z.boolean() });
export type LeftProcess = z.infer<typeof LeftProcess>;

/** A point in time as ISO 8601 in UTC with milliseconds. */
export const Time = z.iso.datetime();

/** The reason why an agent waits for a person, in its own words if it gives any; `until`: when it continues without one. */
export const Attention = z.object({ for: z.enum(WAITS), text: z.nullable(z.string()), until: z.nullable(Time) });
export type Attention = z.infer<typeof Attention>;

/** The last handover of a session to another principal, with its actor and note. */
export const Handover = z.object({ by: Principal, from: Principal, to: Principal, note: z.nullable(z.string()), at: Time });
export type Handover = z.infer<typeof Handover>;

/** A terminal that shows a session. `terminal` is its device, `from` the remote address of its ssh connection; null: not known, or this machine. */
export const Attachment = z.object({
  id: z.string(),
  principal: Principal,
  role: z.enum(ROLES),
  since: Time,
  terminal: z.nullable(z.string()),
  from: z.nullable(z.string()),
});
export type Attachment = z.infer<typeof Attachment>;

/** The original of a fork: the session, its name at that time, and the checkpoint that the files are from, if any. */
export const ForkedFrom = z.object({
  session: SessionId,
  name: z.string(),
  conversation: z.string(),
  checkpoint: z.nullable(z.int()),
});
export type ForkedFrom = z.infer<typeof ForkedFrom>;

/** The agent's last progress report. `total`: the amount of work; null: not reported. */
export const Progress = z.object({ text: z.string(), done: z.nullable(z.number()), total: z.nullable(z.number()), at: Time });
export type Progress = z.infer<typeof Progress>;

/**
 * A failure that no person has viewed yet: the run ended badly, a turn failed, or the budget ended the session. `why` is the agent's own text, if
 * any.
 */
export const UnseenFailure = z.object({ what: z.enum(["ended", "turn", "budget"]), why: z.nullable(z.string()), at: Time });
export type UnseenFailure = z.infer<typeof UnseenFailure>;

/** Tools that a role allows (null: all) and denies. `enforced`: the agent offers its model no others. */
export const RoleTools = z.object({ allowed: z.nullable(z.array(z.string())), denied: z.array(z.string()), enforced: z.boolean() });
export type RoleTools = z.infer<typeof RoleTools>;

/** `turns`: number of turns that began in it; null if earlier turns may be uncounted, as in an adopted agent. 0 means empty. */
const HadConversation = z.object({ id: z.string(), run: z.int(), since: Time, turns: z.nullable(z.int()) });

/**
 * A session as every client sees it: `ls --json`, `show --json`, the API and the SDK. Fields are only ever added. `pid` is the program's, never its
 * keeper's. `durationMs` counts from the current run's start to its end or to now, by the monotonic clock; null if the run has not begun or its end
 * was not seen.
 */
export const Session = z.object({
  id: SessionId,
  ...z.omit(SessionSpec, { report: true }).shape,
  /** First line of the first prompt that a session without an objective got after its start; null: none is known. */
  firstPrompt: z.nullable(z.string()),
  status: StatusSchema,
  /** Start of the current status: the time of the evidence that changed it. Null while only the process is known. */
  statusAt: z.nullable(Time),
  /** Time in the current status, by the monotonic clock; null after the end. */
  statusForMs: z.nullable(z.number()),
  /** Turn of a running agent; null: unknown or not applicable. */
  turn: z.nullable(z.enum(TURNS)),
  /** The reason for waiting, while the status is `waiting`. */
  attention: z.nullable(Attention),
  /** True if work continues outside the turn; null: unknown. */
  background: z.nullable(z.boolean()),
  /**
   * True if the agent is working but has made no progress for too long: no new text or tokens, no hook report, no change in its own files, no
   * processor time of its tools.
   */
  hung: z.boolean(),
  /**
   * Number of turns that began, over all runs; 0: none. Null: unknown, for example without evidence, or if a prompt was delivered and no turn was
   * seen.
   */
  turns: z.nullable(z.int()),
  /** The run that was given the first prompt, or the last such run if it was repeated; null: none, or not known. */
  promptedRun: z.nullable(z.int()),
  /** Number of completed tasks. */
  tasksCompleted: z.int(),
  /** Null: no report yet. */
  progress: z.nullable(Progress),
  /** The agent's own id of its current conversation, if known. */
  conversation: z.nullable(z.string()),
  /** All conversations of the session, oldest first; each can be continued. */
  conversations: z.array(HadConversation),
  /** The original, if the session is a fork. */
  forkedFrom: z.nullable(ForkedFrom),
  /** The workspace, if Holdfast manages one; `branch` is null for a plain directory. */
  workspace: z.nullable(z.object({ id: WorkspaceId, name: z.string(), branch: z.nullable(z.string()) })),
  owner: z.string(),
  /** The last handover, if the session had another owner before. */
  handover: z.nullable(Handover),
  /** Paths of the session's groups, in the order in which it joined them. */
  groups: z.array(z.string()),
  pid: z.nullable(z.int()),
  createdAt: Time,
  startedAt: z.nullable(Time),
  endedAt: z.nullable(Time),
  durationMs: z.nullable(z.number()),
  lastActivityAt: z.nullable(Time),
  /** Time since the last output of a running session, by the monotonic clock. */
  idleMs: z.nullable(z.number()),
  outputPath: z.nullable(z.string()),
  exit: z.nullable(Exit),
  cause: z.nullable(CauseSchema),
  runs: z.int(),
  /** When the next run will start; null: none is due. */
  restartAt: z.nullable(Time),
  /** Why the restart policy starts no next run; null while the session runs. */
  restartGivenUp: z.nullable(GivenUpSchema),
  /** Current resources of all processes of the run, if requested; null otherwise and after the end. */
  usage: z.nullable(Usage),
  /** Model usage over all runs; null: nothing was reported. */
  spent: z.nullable(Spent),
  /** Model usage including all descendants, also removed ones; null: they used nothing. */
  spentWithChildren: z.nullable(Spent),
  /** The budget over all runs, if there is one. */
  budget: z.nullable(BudgetState),
  /** What enforces the memory limit: the kernel (a cgroup of the run), or a check of the processes every second. */
  memoryLimitBy: z.nullable(z.enum(["cgroup", "watching"])),
  /** Size limit of each run's recording, above which the oldest output is deleted. Null: everything is kept. */
  recordingLimitBytes: z.nullable(z.int()),
  /** Number of deleted bytes of the current run's output: its recording begins at this offset. */
  recordingCutBytes: z.int(),
  /** When a person first viewed the session after its end; null: not yet, so it is not pruned. */
  viewedAt: z.nullable(Time),
  /** The newest failure that no person has viewed; null: none. */
  failure: z.nullable(UnseenFailure),
  /** Terminals that show the session, the earliest first. */
  attachments: z.array(Attachment),
  /** Processes of an ended session that still run, if a single session was requested; `stop` and `rm` end them. */
  left: z.optional(z.array(LeftProcess)),
  /** The tools of the session's role, if it has any and a single session was requested. */
  tools: z.optional(RoleTools),
});
export type Session = z.infer<typeof Session>;
