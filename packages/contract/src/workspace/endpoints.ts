/** Endpoints of workspaces. */
import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { flag } from "../wire.ts";
import {
  CollectOutcome,
  CollectRequest,
  MergeOutcome,
  MergeRequest,
  PullRequestOutcome,
  PullRequestRequest,
  RecoverOutcome,
  RecoverRequest,
  RemoveOutcome,
  RemoveRequest,
} from "./end.ts";
import { Workspace } from "./workspace.ts";

const words = z.string().check(z.minLength(1), z.maxLength(1000, "a name, a branch or a base has at most 1,000 characters"));
const place = z.string().check(z.maxLength(4096, "a directory path has at most 4096 characters"));
/** The caller's whole environment, which gives git its name, keys and configuration. */
const environment = z.record(z.string(), z.string());

const WORKSPACE_ERRORS = ["workspace_not_found", "workspace_ambiguous"] as const;

/** Branch and base of a new worktree. */
export const WorktreeRequest = z.object({
  /** `holdfast/NAME` by default. An existing branch is checked out. */
  branch: z.optional(words),
  /** By default as the project says, else the current branch or commit. */
  base: z.optional(words),
  /** False: do not run the project's set-up command. */
  setup: z._default(z.boolean(), true),
});
export type WorktreeRequest = z.infer<typeof WorktreeRequest>;

export const DiffStat = z.object({ files: z.int(), insertions: z.int(), deletions: z.int() });
export type DiffStat = z.infer<typeof DiffStat>;

export const WORKSPACE_ENDPOINTS = {
  listWorkspaces: {
    ...ROUTES.listWorkspaces,
    summary: "Workspaces with their current git state; with `all` also removed ones, with `repo` those of that directory's repository.",
    scope: "observer",
    reach: "own",
    query: z.object({ all: flag, repo: z.optional(place) }),
    reply: z.object({ workspaces: z.array(Workspace) }),
    errors: ["git_failed"],
  },
  createWorkspace: {
    ...ROUTES.createWorkspace,
    summary:
      "Creates a worktree of the repository that contains `cwd`, or registers a plain directory as a workspace. Replies when its set-up is done.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: z.extend(WorktreeRequest, { cwd: place, env: environment, name: z.optional(words) }),
    reply: Workspace,
    errors: ["invalid_name", "name_taken", "cwd_unusable", "repository_unusable", "git_failed", "setup_failed", "not_trusted", "usage"],
  },
  getWorkspace: {
    ...ROUTES.getWorkspace,
    summary: "One workspace by name, id or unique id prefix, or by a path inside it; also a removed one.",
    scope: "observer",
    reach: "own",
    reply: Workspace,
    errors: WORKSPACE_ERRORS,
  },
  diffWorkspace: {
    ...ROUTES.diffWorkspace,
    summary: "The work of a workspace's sessions: commits, uncommitted changes and new files since it left its base.",
    scope: "observer",
    reach: "own",
    query: z.object({ stat: flag, names: flag, color: flag }),
    reply: z.extend(DiffStat, { diff: z.string(), from: z.string() }),
    errors: [...WORKSPACE_ERRORS, "workspace_removed", "git_failed", "repository_unusable"],
  },
  mergeWorkspace: {
    ...ROUTES.mergeWorkspace,
    summary: "Merges a workspace's commits into its base or another branch: as they are, squashed or rebased. Changes nothing on failure.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: MergeRequest,
    reply: MergeOutcome,
    errors: [...WORKSPACE_ERRORS, "workspace_removed", "repository_unusable", "merge_conflict", "merge_refused", "git_failed"],
  },
  openPullRequest: {
    ...ROUTES.openPullRequest,
    summary: "Pushes a workspace's branch and opens a pull request with the caller's `gh`.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: PullRequestRequest,
    reply: PullRequestOutcome,
    errors: [...WORKSPACE_ERRORS, "workspace_removed", "repository_unusable", "merge_refused", "program_not_found", "git_failed"],
  },
  removeWorkspace: {
    ...ROUTES.removeWorkspace,
    summary: "Removes a workspace and its branch, unless work would be lost. A removed workspace can be recovered.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: RemoveRequest,
    reply: RemoveOutcome,
    errors: [...WORKSPACE_ERRORS, "workspace_removed", "workspace_lived_in", "would_lose_work", "stop_incomplete", "git_failed"],
  },
  recoverWorkspace: {
    ...ROUTES.recoverWorkspace,
    summary: "Recovers a removed workspace: its worktree, its branch and every file that git did not ignore.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: RecoverRequest,
    reply: RecoverOutcome,
    errors: [...WORKSPACE_ERRORS, "workspace_removed", "invalid_name", "name_taken", "repository_unusable", "git_failed"],
  },
  collectWorkspaces: {
    ...ROUTES.collectWorkspaces,
    summary:
      "Removes merged and orphaned workspaces and old recovery data; never uncommitted or unmerged work. Only lists them unless `dryRun` is false.",
    scope: "owner",
    takesText: true,
    body: CollectRequest,
    reply: CollectOutcome,
    errors: ["git_failed"],
  },
} as const satisfies Record<string, Endpoint>;
