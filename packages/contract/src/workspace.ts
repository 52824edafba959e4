/** Where sessions work: a git worktree each, or a plain directory; what became of it, and its states in between. */
import * as z from "zod/mini";
import { Principal, TournamentId, WorkspaceId } from "./ids.ts";
import { Time } from "./session.ts";
import { MERGE_WAYS, SETUP_STATES, WORKSPACE_KINDS } from "./status.ts";

/** As it was made; in the journal, and in `workspace.json` beside it. */
export const WorkspaceSpec = z.object({
  id: WorkspaceId,
  name: z.string(),
  kind: z.enum(WORKSPACE_KINDS),
  path: z.string(),
  /** The main working tree, or the bare repository; null for a plain directory. The rest is null with it. */
  repo: z.nullable(z.string()),
  branch: z.nullable(z.string()),
  /** Whether the branch was made for it, and so goes with it. */
  ownBranch: z.boolean(),
  /** What it began from and is merged into: a branch, or a commit where nothing was checked out. */
  base: z.nullable(z.string()),
  baseCommit: z.nullable(z.string()),
  /** The first of `ports` TCP ports that no other workspace is given: `HOLDFAST_PORT_BASE`. */
  portBase: z.int(),
  ports: z.int(),
  /** What its users should know: a plain directory isolates nothing, large files are pointers. */
  notes: z.array(z.string()),
  /** Which tournament it was made for, as the how many-th, for which agent. */
  tournament: z.optional(z.object({ id: TournamentId, name: z.string(), number: z.int(), agent: z.string() })),
});
export type WorkspaceSpec = z.infer<typeof WorkspaceSpec>;

/** The set-up command of `.holdfast/config.toml`. `log`: all that it said. */
export const Setup = z.object({
  command: z.string(),
  state: z.enum(SETUP_STATES),
  exitCode: z.nullable(z.int()),
  log: z.string(),
});
export type Setup = z.infer<typeof Setup>;

/** Would not merge: with another live workspace, by name. */
export const Conflict = z.object({ workspace: z.string(), files: z.array(z.string()) });
export type Conflict = z.infer<typeof Conflict>;

export const Workspace = z.extend(WorkspaceSpec, {
  owner: Principal,
  createdAt: Time,
  setup: z.nullable(Setup),
  /** Names of the sessions that work in it and have not ended. */
  sessions: z.array(z.string()),
  /** Uncommitted changes, new files among them; null: it cannot be asked (its directory is gone). */
  dirty: z.nullable(z.boolean()),
  /** How many files that are. */
  changes: z.nullable(z.int()),
  /** Commits that its base does not have, and the other way round. */
  ahead: z.nullable(z.int()),
  behind: z.nullable(z.int()),
  /** With the other live workspaces of the repository, as of the last commits. */
  conflicts: z.array(Conflict),
  /** Files that would not merge into the base as it is now. */
  baseConflicts: z.array(z.string()),
  mergedAt: z.nullable(Time),
  removedAt: z.nullable(Time),
  /** What brings back all that was in it when it was removed. */
  recoveryRef: z.nullable(z.string()),
});
export type Workspace = z.infer<typeof Workspace>;

/** What removing a workspace would lose. */
export const Losses = z.object({
  /** Uncommitted files, as `git status` marks them: `?? notes.txt`. */
  files: z.array(z.string()),
  /** Commits that are neither in the base nor on a remote, as `HASH SUBJECT`, newest first. */
  commits: z.array(z.string()),
  /** Names of sessions that work there. */
  sessions: z.array(z.string()),
});
export type Losses = z.infer<typeof Losses>;

export const MergeWaySchema = z.enum(MERGE_WAYS);

/** Of no session; `id` is the workspace's. */
export const WORKSPACE_EVENTS = {
  "workspace.created": WorkspaceSpec,
  /** Its record was lost with a damaged journal; this is what its files say. */
  "workspace.rebuilt": z.extend(WorkspaceSpec, { owner: Principal, createdAt: Time }),
  "workspace.setup_started": z.object({ id: WorkspaceId, command: z.string() }),
  "workspace.setup_ended": z.object({ id: WorkspaceId, state: z.enum(SETUP_STATES), exitCode: z.nullable(z.int()) }),
  /** `tip`: the branch as it was merged; `commit`: the base as it is now. */
  "workspace.merged": z.object({ id: WorkspaceId, into: z.string(), way: MergeWaySchema, tip: z.string(), commit: z.string() }),
  "workspace.pushed": z.object({ id: WorkspaceId, remote: z.string(), branch: z.string(), commit: z.string() }),
  /** What was in it is kept under `ref`; null where it could not be, or nothing was there to keep. */
  "workspace.removed": z.object({
    id: WorkspaceId,
    name: z.string(),
    ref: z.nullable(z.string()),
    why: z.enum(["asked", "merged", "gone"]),
  }),
  "workspace.recovered": z.object({
    id: WorkspaceId,
    name: z.string(),
    branch: z.nullable(z.string()),
    path: z.string(),
    /** Others than before, where its own were taken meanwhile. */
    ownBranch: z.optional(z.boolean()),
    portBase: z.optional(z.int()),
    ports: z.optional(z.int()),
  }),
  /** What was kept of it when it was removed is deleted: it was old. */
  "workspace.forgotten": z.object({ id: WorkspaceId, name: z.string(), ref: z.string() }),
  /** Worktrees share one stash: what was stashed in the workspace `id` was popped in `by`. It is kept under `ref`. */
  "workspace.stash_taken": z.object({ id: WorkspaceId, by: WorkspaceId, commit: z.string(), ref: z.string(), files: z.array(z.string()) }),
  /** What it would not merge with is something else than before; `workspace` is an id. */
  "workspace.conflicts_changed": z.object({
    id: WorkspaceId,
    conflicts: z.array(z.object({ workspace: WorkspaceId, files: z.array(z.string()) })),
    base: z.array(z.string()),
  }),
};
