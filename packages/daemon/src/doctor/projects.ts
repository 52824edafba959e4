/** Finds sessions and workspaces whose project directory is gone. Nothing is removed automatically, because the directory may be on an unmounted disk. */
import { existsSync } from "node:fs";
import { hasEnded, type SessionStatus } from "@holdfast/contract";
import type { Check } from "./check.ts";

export interface Projects {
  sessions: readonly { name: string; cwd: string; status: SessionStatus; workspace: unknown }[];
  /** Workspaces that were not removed. */
  workspaces: readonly { name: string; path: string; repo: string | null }[];
}

/** Further names are only counted. */
const MOST_NAMED = 10;

export function projectsGone({ sessions, workspaces }: Projects): Check {
  const lost = workspaces.filter(({ path, repo }) => !existsSync(repo ?? path) || !existsSync(path));
  // A running session holds its directory open, even if it was deleted or renamed.
  const left = sessions.filter(
    ({ status, cwd, workspace }) => (hasEnded(status) || status === "created") && workspace === null && !existsSync(cwd),
  );
  if (lost.length + left.length === 0)
    return { id: "projects", level: "ok", what: "the directories of all sessions and workspaces exist", remedy: null };
  const what = [
    ...(lost.length > 0 ? [`workspace ${named(lost.map(({ name, repo, path }) => `${name} (${repo ?? path})`))}`] : []),
    ...(left.length > 0 ? [`session ${named(left.map(({ name, cwd }) => `${name} (${cwd})`))}`] : []),
  ];
  const commands = [
    ...(lost.length > 0 ? ["holdfast workspace gc", `holdfast workspace rm ${some(lost)} --force`] : []),
    ...(left.length > 0 ? [`holdfast rm ${some(left)}`] : []),
  ];
  return {
    id: "projects",
    level: "warning",
    what: `a project directory is gone: ${what.join("; ")}`,
    remedy: `move or mount it back; to clean up, run: ${commands.join("; ")}`,
  };
}

function named(all: readonly string[]): string {
  return all.length <= MOST_NAMED ? all.join(", ") : `${all.slice(0, MOST_NAMED).join(", ")} and ${all.length - MOST_NAMED} more`;
}

function some(all: readonly { name: string }[]): string {
  return all
    .slice(0, MOST_NAMED)
    .map(({ name }) => name)
    .join(" ");
}
