/** Digests: the news of a session since a person last viewed it, and its agent's last answer. */
import * as z from "zod/mini";
import { Approval } from "../approval/approval.ts";
import { Principal, RunNumber } from "../ids.ts";
import { Message } from "../message/message.ts";
import { Session, Time } from "../session/session.ts";
import { Task } from "../task/task.ts";
import { Spent } from "../usage/spent.ts";

/** Longest answer of an agent that the journal keeps, in characters; a longer one is cut and marked. */
export const LONGEST_REPLY = 200_000;

/** A commit hash, as git writes it. */
export const CommitHash = z.string().check(z.regex(/^[0-9a-f]{40,64}$/));

export const DIGEST_EVENTS = {
  /** The actor has seen everything up to `upTo`. `head`: the commit that was checked out in the session's directory, if known. */
  "session.looked_at": z.object({ upTo: z.int(), head: z.nullable(CommitHash) }),
  /** The agent reported its answer at the end of a turn. `toldAt`: when; `cut`: the answer was longer and was kept in part. */
  "session.replied": z.object({ run: RunNumber, turn: z.int(), toldAt: Time, reply: z.string(), cut: z.boolean() }),
  /** The agent reported why its turn failed. */
  "session.turn_failed": z.object({ run: RunNumber, turn: z.int(), toldAt: Time, why: z.string() }),
};

export const DigestTurn = z.object({
  turn: z.int(),
  run: RunNumber,
  beganAt: Time,
  /** Null: the turn is still running. */
  endedAt: z.nullable(Time),
});
export type DigestTurn = z.infer<typeof DigestTurn>;

/** `turn_failed` and `rate_limit` have the agent's own text. */
export const Trouble = z.object({
  at: Time,
  kind: z.enum(["turn_failed", "rate_limit", "not_recorded", "memory", "budget"]),
  text: z.string(),
});
export type Trouble = z.infer<typeof Trouble>;

/** The start or end of a run; `began` is the first start. */
export const RunNews = z.object({
  at: Time,
  run: RunNumber,
  what: z.enum(["began", "restart", "resume", "restore", "adopted", "done", "failed", "stopped", "lost", "given_up"]),
  text: z.string(),
});
export type RunNews = z.infer<typeof RunNews>;

export const Commit = z.object({ hash: CommitHash, at: z.string(), author: z.string(), subject: z.string() });
export type Commit = z.infer<typeof Commit>;

/** Git's view of the directory. `commits` and `list` have the first fifty entries; the numbers count all. */
export const WorkDone = z.object({
  directory: z.string(),
  branch: z.nullable(z.string()),
  head: z.nullable(CommitHash),
  commitCount: z.int(),
  commits: z.array(Commit),
  /** Null: not requested. `untilTurn`: the state at the checkpoint of that turn's end; null: the current state, committed or not. */
  changed: z.nullable(
    z.object({
      files: z.int(),
      insertions: z.int(),
      deletions: z.int(),
      untilTurn: z.nullable(z.int()),
      /** Null for binary and new files, whose lines are not counted. */
      list: z.array(z.object({ path: z.string(), insertions: z.nullable(z.int()), deletions: z.nullable(z.int()) })),
    }),
  ),
});
export type WorkDone = z.infer<typeof WorkDone>;

/** Lists are oldest first. */
export const Digest = z.object({
  session: Session,
  /** Start of the digest. `looked`: the caller's last view; `asked`: the given time; `began`: the session's start. */
  since: z.object({ seq: z.int(), at: Time, why: z.enum(["looked", "asked", "began"]) }),
  /** Journal position up to which the digest reports. */
  upTo: z.int(),
  /** True if there is news. */
  news: z.boolean(),
  turns: z.object({ began: z.int(), ended: z.int(), workedMs: z.number(), list: z.array(DigestTurn) }),
  answers: z.array(z.object({ turn: z.int(), run: RunNumber, at: Time, text: z.string(), cut: z.boolean() })),
  messages: z.array(Message),
  /** Tasks that began or ended since. */
  tasks: z.array(Task),
  /** Approvals that were requested or answered since, and all open ones. */
  approvals: z.array(Approval),
  troubles: z.array(Trouble),
  /** Model usage; null if nothing was reported. */
  spent: z.nullable(Spent),
  runs: z.array(RunNews),
  checkpoints: z.array(z.object({ number: z.int(), at: Time, turn: z.nullable(z.int()), files: z.int() })),
  handovers: z.array(z.object({ at: Time, by: Principal, to: z.nullable(z.string()), note: z.nullable(z.string()) })),
  /** Null: the session does not work in a git repository. */
  work: z.nullable(WorkDone),
  /** True if the lists are incomplete; they hold the newest items. */
  more: z.boolean(),
});
export type Digest = z.infer<typeof Digest>;

/** `source`: the agent's `hook`, or its own `transcript`. */
export const LastReply = z.object({
  session: Session,
  reply: z.string(),
  cut: z.boolean(),
  /** Null: the time is not known. */
  at: z.nullable(Time),
  turn: z.nullable(z.int()),
  source: z.enum(["hook", "transcript"]),
});
export type LastReply = z.infer<typeof LastReply>;
