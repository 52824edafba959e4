/**
 * One answer for all worktrees of a repository. If a person let an agent trust one worktree, it may trust the others that Holdfast made of the same
 * repository for the same principal, and nothing else. The journal holds the decision, next to trust in projects (workspace/setup/trust.ts).
 */
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import type { Principal, Trust } from "@holdfast/contract";
import type { Home } from "@holdfast/platform";
import type { SessionRecord } from "../projection/session-queries.ts";
import type { WorkspaceQueries } from "../projection/workspaces.ts";
import type { AgentTrust, TrustedProjects } from "../workspace/setup/trust.ts";

export class WorktreeTrust {
  readonly #home: Home;
  readonly #workspaces: WorkspaceQueries;
  readonly #trusted: TrustedProjects;

  constructor(options: { home: Home; workspaces: WorkspaceQueries; trusted: TrustedProjects }) {
    this.#home = options.home;
    this.#workspaces = options.workspaces;
    this.#trusted = options.trusted;
  }

  /** The trust given to a worktree of the same repository for this agent; undefined if none, or if the dialog is about another folder. */
  of(session: SessionRecord, dialog: string): Trust | undefined {
    const worktrees = this.#worktreesOf(session, dialog);
    return worktrees && this.#trusted.ofAgent(worktrees);
  }

  /** False if the dialog is not about a worktree of Holdfast; the answer then counts for its folder alone. */
  add(session: SessionRecord, dialog: string, actor: Principal): boolean {
    const worktrees = this.#worktreesOf(session, dialog);
    if (worktrees) this.#trusted.addAgent(worktrees, actor);
    return worktrees !== undefined;
  }

  #worktreesOf({ workspace: place, agent, cwd, host }: SessionRecord, dialog: string): AgentTrust | undefined {
    const workspace = place === null || host === "foreign" ? undefined : this.#workspaces.get(place.id);
    if (workspace?.kind !== "worktree" || workspace.repo === null || workspace.removedAt !== null) return undefined;
    if (!isWithin(workspace.path, this.#home.workspaces) || !isWithin(cwd, workspace.path)) return undefined;
    if (namesAnother(dialog, workspace.path)) return undefined;
    return { directory: workspace.repo, agent, owner: workspace.owner };
  }
}

/** A long path wraps over several lines of a narrow screen. */
const MOST_LINES = 6;

/** True if the dialog names a folder outside the worktree: the program may have changed its directory. Not every dialog names one. */
export function namesAnother(dialog: string, worktree: string): boolean {
  const lines = dialog.split("\n").map((line) => line.trim());
  const at = lines.findIndex((line) => /^[/~]/.test(line));
  if (at < 0) return false;
  const parts = Array.from({ length: MOST_LINES }, (_, more) => lines.slice(at, at + 1 + more));
  return !parts.some((part) => isWithin(part.join(""), worktree) || isWithin(part.join(" "), worktree));
}

/** Compares real paths: an agent may have put a link into its worktree. */
function isWithin(path: string, directory: string): boolean {
  try {
    return `${realpathSync(path)}${sep}`.startsWith(`${realpathSync(directory)}${sep}`);
  } catch {
    return false;
  }
}
