/** What happened in a session since somebody last looked at it, and what its agent said last. */
import * as z from "zod/mini";
import { Approval } from "./approval.ts";
import { Principal, RunNumber } from "./ids.ts";
import { Message } from "./message.ts";
import { Session, Time } from "./session.ts";
import { Spent } from "./spent.ts";
import { Task } from "./task.ts";

/** Of an agent's answer the journal keeps so many characters; what is longer ends there, and says so. */
export const LONGEST_REPLY = 200_000;

/** A commit, as git writes it. */
export const CommitHash = z.string().check(z.regex(/^[0-9a-f]{40,64}$/));

export const DIGEST_EVENTS = {
  /** The actor has seen all up to `upTo`; `head`: what was checked out where the session works, if that is known. */
  "session.looked_at": z.object({ upTo: z.int(), head: z.nullable(CommitHash) }),
  /** The agent told what it said at the end of a turn. `toldAt`: when; `cut`: it is longer, and was kept in part. */
  "session.replied": z.object({ run: RunNumber, turn: z.int(), toldAt: Time, reply: z.string(), cut: z.boolean() }),
  /** The agent told why a turn of it failed. */
  "session.turn_failed": z.object({ run: RunNumber, turn: z.int(), toldAt: Time, why: z.string() }),
};

export const DigestTurn = z.object({
  turn: z.int(),
  run: RunNumber,
  beganAt: Time,
  /** Null: it goes on. */
  endedAt: z.nullable(Time),
});
export type DigestTurn = z.infer<typeof DigestTurn>;

/** `turn_failed` in the agent's own words; `rate_limit` with what it says of it. */
export const Trouble = z.object({
  at: Time,
  kind: z.enum(["turn_failed", "rate_limit", "not_recorded", "memory", "budget"]),
  text: z.string(),
});
export type Trouble = z.infer<typeof Trouble>;

/** A run that began, or ended: `began` is the first one. */
export const RunNews = z.object({
  at: Time,
  run: RunNumber,
  what: z.enum(["began", "restart", "resume", "restore", "adopted", "done", "failed", "stopped", "lost", "given_up"]),
  text: z.string(),
});
export type RunNews = z.infer<typeof RunNews>;

export const Commit = z.object({ hash: CommitHash, at: z.string(), author: z.string(), subject: z.string() });
export type Commit = z.infer<typeof Commit>;

/** What git says of the directory. Of `commits` and `files` the first fifty; the numbers are of all. */
export const WorkDone = z.object({
  directory: z.string(),
  branch: z.nullable(z.string()),
  head: z.nullable(CommitHash),
  commitCount: z.int(),
  commits: z.array(Commit),
  /** Null: not asked for. `untilTurn`: as of the checkpoint at the end of that turn; null: as it is now, uncommitted or not. */
  changed: z.nullable(
    z.object({
      files: z.int(),
      insertions: z.int(),
      deletions: z.int(),
      untilTurn: z.nullable(z.int()),
      /** Of a binary or a new file nobody counted lines: null. */
      list: z.array(z.object({ path: z.string(), insertions: z.nullable(z.int()), deletions: z.nullable(z.int()) })),
    }),
  ),
});
export type WorkDone = z.infer<typeof WorkDone>;

/** Lists are oldest first. */
export const Digest = z.object({
  session: Session,
  /** `looked`: since who asks last looked; `asked`: since the time that was given; `began`: since the session did. */
  since: z.object({ seq: z.int(), at: Time, why: z.enum(["looked", "asked", "began"]) }),
  /** The place in the journal that it tells of things up to. */
  upTo: z.int(),
  /** Whether there is any. */
  news: z.boolean(),
  turns: z.object({ began: z.int(), ended: z.int(), workedMs: z.number(), list: z.array(DigestTurn) }),
  answers: z.array(z.object({ turn: z.int(), run: RunNumber, at: Time, text: z.string(), cut: z.boolean() })),
  messages: z.array(Message),
  /** Those that began or ended since. */
  tasks: z.array(Task),
  /** What was asked or answered since, and whatever waits. */
  approvals: z.array(Approval),
  troubles: z.array(Trouble),
  /** Of models; null: nothing that anybody told. */
  spent: z.nullable(Spent),
  runs: z.array(RunNews),
  checkpoints: z.array(z.object({ number: z.int(), at: Time, turn: z.nullable(z.int()), files: z.int() })),
  handovers: z.array(z.object({ at: Time, by: Principal, to: z.nullable(z.string()), note: z.nullable(z.string()) })),
  /** Null: it does not work in a git repository. */
  work: z.nullable(WorkDone),
  /** There is more than is told: these are the newest. */
  more: z.boolean(),
});
export type Digest = z.infer<typeof Digest>;

/** `source`: by what it is known: the agent's `hook`, or its own `transcript`. */
export const LastReply = z.object({
  session: Session,
  reply: z.string(),
  cut: z.boolean(),
  /** Null: nobody noted it. */
  at: z.nullable(Time),
  turn: z.nullable(z.int()),
  source: z.enum(["hook", "transcript"]),
});
export type LastReply = z.infer<typeof LastReply>;
