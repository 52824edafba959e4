/** Merging, publishing, removing and recovering a workspace. */
import * as z from "zod/mini";
import { MERGE_WAYS } from "./enums.ts";
import { Losses, Workspace } from "./workspace.ts";

const words = z.string().check(z.minLength(1), z.maxLength(1000, "a name, a branch or a title has at most 1,000 characters"));
const message = z.string().check(z.minLength(1), z.maxLength(100_000, "a commit's message has at most 100,000 characters"));
/** The caller's whole environment, which gives git its name, keys and configuration. */
const environment = z.record(z.string(), z.string());

export const MergeRequest = z.object({
  env: environment,
  /** By default a fast-forward; the merge is refused if that is not possible. */
  way: z.optional(z.enum(MERGE_WAYS)),
  /** Branch to merge into; the base by default. */
  into: z.optional(words),
  /** Message of the squash commit; by default made from the commits. */
  message: z.optional(message),
  /** Commit all uncommitted changes first, with this message. */
  commit: z.optional(message),
  /** Push the branch afterwards. */
  push: z._default(z.boolean(), false),
});
export type MergeRequest = z.infer<typeof MergeRequest>;

/** A push to a remote. `said`: the remote's own output, often with a link to open a pull request. */
export const Pushed = z.object({ remote: z.string(), branch: z.string(), commit: z.string(), said: z.string() });
export type Pushed = z.infer<typeof Pushed>;

export const MergeOutcome = z.object({
  workspace: Workspace,
  merged: z.object({
    way: z.enum(MERGE_WAYS),
    into: z.string(),
    /** The base's commit before and after the merge. */
    before: z.string(),
    commit: z.string(),
    /** The workspace's merged commit, and its current head. */
    tip: z.string(),
    head: z.string(),
    /** Number of merged commits. */
    commits: z.int(),
    /** Directory where the base is checked out, whose files changed. */
    tree: z.nullable(z.string()),
    notes: z.array(z.string()),
  }),
  pushed: z.nullable(Pushed),
});
export type MergeOutcome = z.infer<typeof MergeOutcome>;

export const PullRequestRequest = z.object({
  env: environment,
  /** By default the first line of the first commit. */
  title: z.optional(words),
  draft: z._default(z.boolean(), false),
});
export type PullRequestRequest = z.infer<typeof PullRequestRequest>;

export const PullRequestOutcome = z.object({
  workspace: Workspace,
  url: z.string(),
  /** The pull request existed already and has the new commits. */
  existed: z.boolean(),
  title: z.string(),
  pushed: Pushed,
  notes: z.array(z.string()),
});
export type PullRequestOutcome = z.infer<typeof PullRequestOutcome>;

export const RemoveRequest = z.object({
  env: environment,
  /** Stop the sessions there, and remove the workspace whatever it contains; everything except ignored files can be recovered. */
  force: z._default(z.boolean(), false),
  /** Only report what would be lost. */
  dryRun: z._default(z.boolean(), false),
});
export type RemoveRequest = z.infer<typeof RemoveRequest>;

export const RemoveOutcome = z.object({
  workspace: Workspace,
  dryRun: z.boolean(),
  losses: Losses,
  /** Ref that holds the removed content. */
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
  /** Recovery data of removed workspaces is deleted after this time. */
  olderThanMs: z._default(z.number().check(z.minimum(0)), 30 * 86_400_000),
});
export type CollectRequest = z.infer<typeof CollectRequest>;

/**
 * `merged`: the base has all its commits. `gone`: its directory no longer exists. `entry`: git still lists a worktree of Holdfast without a
 * directory. `unknown`: a directory among the workspaces that belongs to none. `recovery`: old recovery data of a removed workspace.
 * `stash`: the old copy of a stash that was popped or dropped.
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

/** `kept`: merged or orphaned workspaces that stay, with the reason. */
export const CollectOutcome = z.object({ dryRun: z.boolean(), removed: z.array(Collected), kept: z.array(Collected) });
export type CollectOutcome = z.infer<typeof CollectOutcome>;
