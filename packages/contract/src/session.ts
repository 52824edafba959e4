import * as z from "zod/mini";
import { BudgetState } from "./budget.ts";
import { Principal, SessionId, WorkspaceId } from "./ids.ts";
import { Spent } from "./spent.ts";
import { CAUSES, EVERY_HOST, GIVEN_UP, KINDS, RESTARTS, ROLES, STATUSES, TURNS, WAITS } from "./status.ts";

export const KindSchema = z.enum(KINDS);
export const StatusSchema = z.enum(STATUSES);
export const HostSchema = z.enum(EVERY_HOST);
export const RestartSchema = z.enum(RESTARTS);
export const CauseSchema = z.enum(CAUSES);
export const GivenUpSchema = z.enum(GIVEN_UP);

/** Both null when the keeper could not tell how the program ended. */
export const Exit = z.object({ code: z.nullable(z.int()), signal: z.nullable(z.string()) });
export type Exit = z.infer<typeof Exit>;

/** Processor time of all processes since each began, resident memory, and how many there are. */
export const Usage = z.object({ cpuMs: z.number(), memoryBytes: z.int(), processes: z.int() });
export type Usage = z.infer<typeof Usage>;

/** A process that outlived its run; `isProgram`: it is the session's program itself. */
export const LeftProcess = z.object({ pid: z.int(), command: z.string(), isProgram: z.boolean() });
export type LeftProcess = z.infer<typeof LeftProcess>;

/** A point in time as ISO 8601 in UTC with milliseconds. */
export const Time = z.iso.datetime();

/** What it wants a person for, in its own words where it has some; `until`: when it goes on by itself. */
export const Attention = z.object({ for: z.enum(WAITS), text: z.nullable(z.string()), until: z.nullable(Time) });
export type Attention = z.infer<typeof Attention>;

/** The last time that a session was given to another principal: by whom, and what they had to say. */
export const Handover = z.object({ by: Principal, from: Principal, to: Principal, note: z.nullable(z.string()), at: Time });
export type Handover = z.infer<typeof Handover>;

/** A terminal on a session. `terminal` is its device, `from` the address that it came from over ssh; null: not known, or this machine. */
export const Attachment = z.object({
  id: z.string(),
  principal: Principal,
  role: z.enum(ROLES),
  since: Time,
  terminal: z.nullable(z.string()),
  from: z.nullable(z.string()),
});
export type Attachment = z.infer<typeof Attachment>;

/** The session whose conversation it carries on a copy of, what that was called then, and the checkpoint of its workspace that the files are from, if one. */
export const ForkedFrom = z.object({
  session: SessionId,
  name: z.string(),
  conversation: z.string(),
  checkpoint: z.nullable(z.int()),
});
export type ForkedFrom = z.infer<typeof ForkedFrom>;

/** What its agent said last of how far it is. `total`: of so many; null: it did not say. */
export const Progress = z.object({ text: z.string(), done: z.nullable(z.number()), total: z.nullable(z.number()), at: Time });
export type Progress = z.infer<typeof Progress>;

/** Something went wrong that no person has looked at yet: its run ended badly, a turn failed, or its budget ended it. `why` in its own words, where it has some. */
export const UnseenFailure = z.object({ what: z.enum(["ended", "turn", "budget"]), why: z.nullable(z.string()), at: Time });
export type UnseenFailure = z.infer<typeof UnseenFailure>;

/** `turns`: how many began in it; null where some may have before they were counted, as in an agent that was adopted. One of 0 is empty. */
const HadConversation = z.object({ id: z.string(), run: z.int(), since: Time, turns: z.nullable(z.int()) });

/**
 * A session as every client sees it: `ls --json`, `show --json`, the API and the SDK. Fields are only ever added.
 * `pid` is the program's, never its keeper's. `durationMs` counts from the current run's start, to its end or to now, by a
 * clock that nobody sets; null when it has not begun or its end was not seen.
 */
export const Session = z.object({
  id: SessionId,
  name: z.string(),
  kind: KindSchema,
  agent: z.string(),
  role: z.nullable(z.string()),
  objective: z.nullable(z.string()),
  status: StatusSchema,
  /** Since when: the time of the evidence that changed it. Null while its process is all that is known. */
  statusAt: z.nullable(Time),
  /** How long that is, by a clock that nobody sets; null when it has ended. */
  statusForMs: z.nullable(z.number()),
  /** Of an agent that runs; null: unknown, or there is no such thing. */
  turn: z.nullable(z.enum(TURNS)),
  /** What it waits for a person for, while its status is `waiting`. */
  attention: z.nullable(Attention),
  /** Whether something of it runs on that is no part of its turn; null: unknown. */
  background: z.nullable(z.boolean()),
  /** It works and made no progress for longer than it may: no new words or tokens, no word of a hook, nothing in its own files, no processor time of its tools. */
  hung: z.boolean(),
  /** How many turns began, in all runs. Null: unknown, as where nothing tells or words were handed over and no turn was seen. 0: none began. */
  turns: z.nullable(z.int()),
  /** The run that was handed the first prompt, the last one where it was repeated; null: none was, or nobody knows. */
  promptedRun: z.nullable(z.int()),
  /** How many tasks it was given and has done. */
  tasksCompleted: z.int(),
  /** Null: it said nothing of that yet. */
  progress: z.nullable(Progress),
  /** The agent's own id of its conversation, where it is known. */
  conversation: z.nullable(z.string()),
  /** All that it has had, oldest first: each can be gone on with. */
  conversations: z.array(HadConversation),
  /** What it was forked from, where it was. */
  forkedFrom: z.nullable(ForkedFrom),
  host: HostSchema,
  cwd: z.string(),
  /** Where it works, if that is one of ours; `branch` is null for a plain directory. */
  workspace: z.nullable(z.object({ id: WorkspaceId, name: z.string(), branch: z.nullable(z.string()) })),
  command: z.array(z.string()),
  owner: z.string(),
  /** How it came to its owner, where somebody else began it. */
  handover: z.nullable(Handover),
  /** The session that started it, where one did. */
  parent: z.nullable(SessionId),
  /** The paths of those it is in, the longest first. */
  groups: z.array(z.string()),
  pid: z.nullable(z.int()),
  createdAt: Time,
  startedAt: z.nullable(Time),
  endedAt: z.nullable(Time),
  durationMs: z.nullable(z.number()),
  lastActivityAt: z.nullable(Time),
  /** Since its last output, while it runs; by a clock that nobody sets. */
  idleMs: z.nullable(z.number()),
  outputPath: z.nullable(z.string()),
  exit: z.nullable(Exit),
  cause: z.nullable(CauseSchema),
  runs: z.int(),
  restart: RestartSchema,
  /** When the next run will be started; null when none is due. */
  restartAt: z.nullable(Time),
  /** Why there is no next run, where its policy would have one; null while it runs. */
  restartGivenUp: z.nullable(GivenUpSchema),
  /** Of all processes of the run now, where it was asked for; null otherwise and when it has ended. */
  usage: z.nullable(Usage),
  /** Of models, in all its runs; null: nobody told anything. */
  spent: z.nullable(Spent),
  /** The same with all sessions that it started, directly or through others, also removed ones; null: they used nothing. */
  spentWithChildren: z.nullable(Spent),
  /** What it may use in all its runs, where that is limited. */
  budget: z.nullable(BudgetState),
  /** All its processes together; above it the run is ended. */
  memoryLimitBytes: z.nullable(z.int()),
  /** What sees to it while the run lives: the kernel (a cgroup of the run's own), or a look at its processes every second. */
  memoryLimitBy: z.nullable(z.enum(["cgroup", "watching"])),
  /** Of each run's recording; above it the oldest output is deleted. Null: everything is kept. */
  recordingLimitBytes: z.nullable(z.int()),
  /** How much of the current run's oldest output has been deleted: its recording begins at this offset. */
  recordingCutBytes: z.int(),
  /** When somebody first looked at it after it ended; null while nobody has. Until then it is never pruned. */
  viewedAt: z.nullable(Time),
  /** The newest failure that no person has looked at; null: there is none. */
  failure: z.nullable(UnseenFailure),
  /** Who has it on a terminal, the longest first. */
  attachments: z.array(Attachment),
  /** Processes of an ended session that still run, where one session is asked for; `stop` and `rm` end them. */
  left: z.optional(z.array(LeftProcess)),
});
export type Session = z.infer<typeof Session>;
