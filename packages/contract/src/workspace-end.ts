/** How a workspace's work gets out of it, and how it goes and comes back. */
import * as z from "zod/mini";
import { MERGE_WAYS } from "./status.ts";
import { Losses, Workspace } from "./workspace.ts";

const words = z.string().check(z.minLength(1), z.maxLength(1000, "a name, a branch or a title has at most 1,000 characters"));
const message = z.string().check(z.minLength(1), z.maxLength(100_000, "a commit's message has at most 100,000 characters"));
/** The caller's whole environment: whose name, keys and configuration git uses. */
const environment = z.record(z.string(), z.string());

export const MergeRequest = z.object({
  env: environment,
  /** Left out: as they are if that can be, else it is refused. */
  way: z.optional(z.enum(MERGE_WAYS)),
  /** The branch that gets its commits; left out: its base. */
  into: z.optional(words),
  /** Of the one commit of a squash; left out: made from the commits. */
  message: z.optional(message),
  /** Everything uncommitted is committed first, under this message. */
  commit: z.optional(message),
  /** Its branch is pushed afterwards. */
  push: z._default(z.boolean(), false),
});
export type MergeRequest = z.infer<typeof MergeRequest>;

/** What went to a remote. `said`: its own words, often where to open a pull request. */
export const Pushed = z.object({ remote: z.string(), branch: z.string(), commit: z.string(), said: z.string() });
export type Pushed = z.infer<typeof Pushed>;

export const MergeOutcome = z.object({
  workspace: Workspace,
  merged: z.object({
    way: z.enum(MERGE_WAYS),
    into: z.string(),
    /** The base's commit before, and now. */
    before: z.string(),
    commit: z.string(),
    /** The workspace's commit that was merged, and where its head is now. */
    tip: z.string(),
    head: z.string(),
    /** How many of its commits. */
    commits: z.int(),
    /** Where the base is checked out, and so has other files now. */
    tree: z.nullable(z.string()),
    notes: z.array(z.string()),
  }),
  pushed: z.nullable(Pushed),
});
export type MergeOutcome = z.infer<typeof MergeOutcome>;

export const PullRequestRequest = z.object({
  env: environment,
  /** Left out: the first line of its first commit. */
  title: z.optional(words),
  draft: z._default(z.boolean(), false),
});
export type PullRequestRequest = z.infer<typeof PullRequestRequest>;

export const PullRequestOutcome = z.object({
  workspace: Workspace,
  url: z.string(),
  /** It was there already, and has the new commits. */
  existed: z.boolean(),
  title: z.string(),
  pushed: Pushed,
  notes: z.array(z.string()),
});
export type PullRequestOutcome = z.infer<typeof PullRequestOutcome>;

export const RemoveRequest = z.object({
  env: environment,
  /** Ends what lives there, and removes it whatever is in it; all but ignored files can be brought back. */
  force: z._default(z.boolean(), false),
  /** Only says what would be lost. */
  dryRun: z._default(z.boolean(), false),
});
export type RemoveRequest = z.infer<typeof RemoveRequest>;

export const RemoveOutcome = z.object({
  workspace: Workspace,
  dryRun: z.boolean(),
  losses: Losses,
  /** Holds what was in it. */
  ref: z.nullable(z.string()),
  notes: z.array(z.string()),
});
export type RemoveOutcome = z.infer<typeof RemoveOutcome>;

export const RecoverRequest = z.object({ env: environment, name: z.optional(words) });
export type RecoverRequest = z.infer<typeof RecoverRequest>;

export const RecoverOutcome = z.object({ workspace: Workspace, notes: z.array(z.string()) });
export type RecoverOutcome = z.infer<typeof RecoverOutcome>;

export const CollectRequest = z.object({
  env: environment,
  dryRun: z._default(z.boolean(), true),
  /** What was kept of removed ones goes after that time. */
  olderThanMs: z._default(z.number().check(z.minimum(0)), 30 * 86_400_000),
});
export type CollectRequest = z.infer<typeof CollectRequest>;

/**
 * `merged`: its base has everything. `gone`: its directory is not there any more. `entry`: git still lists a worktree of ours without a directory.
 * `unknown`: a directory among the workspaces that belongs to none. `recovery`: what was kept of a removed one, and is old.
 */
export const COLLECTED = ["merged", "gone", "entry", "unknown", "recovery", "stash"] as const;

export const Collected = z.object({
  kind: z.enum(COLLECTED),
  /** A workspace's name, a path, or a ref. */
  what: z.string(),
  id: z.nullable(z.string()),
  why: z.string(),
});
export type Collected = z.infer<typeof Collected>;

/** `kept`: what is merged or orphaned as well, and why it stays all the same. */
export const CollectOutcome = z.object({ dryRun: z.boolean(), removed: z.array(Collected), kept: z.array(Collected) });
export type CollectOutcome = z.infer<typeof CollectOutcome>;
