/**
 * One answer for all worktrees of a repository: an agent that a person let trust one of them may trust the others that Holdfast made of the same
 * repository for the same principal, and nothing else. The decision is in the journal, with trust in projects (workspace/trust.ts).
 */
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import type { Principal, Trust } from "@holdfast/contract";
import type { Home } from "@holdfast/platform";
import type { SessionRecord } from "../projection/session-queries.ts";
import type { WorkspaceQueries } from "../projection/workspaces.ts";
import type { TrustedProjects } from "../workspace/trust.ts";

export class WorktreeTrust {
  readonly #home: Home;
  readonly #workspaces: WorkspaceQueries;
  readonly #trusted: TrustedProjects;

  constructor(options: { home: Home; workspaces: WorkspaceQueries; trusted: TrustedProjects }) {
    this.#home = options.home;
    this.#workspaces = options.workspaces;
    this.#trusted = options.trusted;
  }

  /** Who trusted a worktree of the same repository for this agent; undefined: nobody, or it works elsewhere. */
  of(session: SessionRecord): Trust | undefined {
    const worktrees = this.#worktreesOf(session);
    return worktrees && this.#trusted.ofAgent(worktrees);
  }

  /** False: it works in no worktree of ours, and the answer is for its folder alone. */
  add(session: SessionRecord, actor: Principal): boolean {
    const worktrees = this.#worktreesOf(session);
    if (worktrees) this.#trusted.addAgent(worktrees, actor);
    return worktrees !== undefined;
  }

  #worktreesOf({ workspace: place, agent, cwd, host }: SessionRecord): { directory: string; agent: string; owner: Principal } | undefined {
    const workspace = place === null || host === "foreign" ? undefined : this.#workspaces.get(place.id);
    if (workspace?.kind !== "worktree" || workspace.repo === null || workspace.removedAt !== null) return undefined;
    if (!isWithin(workspace.path, this.#home.workspaces) || !isWithin(cwd, workspace.path)) return undefined;
    return { directory: workspace.repo, agent, owner: workspace.owner };
  }
}

/** Where links lead: an agent may have put one into its worktree. */
function isWithin(path: string, directory: string): boolean {
  try {
    return `${realpathSync(path)}${sep}`.startsWith(`${realpathSync(directory)}${sep}`);
  } catch {
    return false;
  }
}
