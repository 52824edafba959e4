/** Workspaces as text. */

import type { Pushed } from "@holdfast/contract/workspace/end";
import type { Losses, Workspace } from "@holdfast/contract/workspace/workspace";
import { counted } from "@holdfast/platform/units";
import { color } from "../text/color.ts";
import { columns } from "../text/columns.ts";
import { plain } from "../text/plain.ts";

export function workspaceTable(workspaces: readonly Workspace[]): string {
  const some = (has: (workspace: Workspace) => boolean) => workspaces.some(has);
  const shown = COLUMNS.filter(({ when }) => when === undefined || some(when));
  return columns(
    shown.map(({ head }) => head),
    workspaces.map((workspace) => shown.map(({ cell }) => cell(workspace))),
  );
}

const COLUMNS: readonly { head: string; cell(workspace: Workspace): string; when?(workspace: Workspace): boolean }[] = [
  { head: "NAME", cell: ({ name }) => plain(name) },
  { head: "BRANCH", cell: ({ branch, kind }) => (branch === null ? kind : plain(branch)) },
  { head: "BASE", cell: ({ base, baseCommit }) => plain(base === baseCommit ? (base ?? "").slice(0, 10) : (base ?? "")) },
  { head: "STATE", cell: stateText },
  { head: "SESSIONS", cell: ({ sessions }) => (sessions.length === 0 ? "-" : sessions.map(plain).join(", ")) },
  { head: "CONFLICTS", cell: conflictCell, when: (workspace) => conflictCell(workspace) !== "" },
];

/** `2 ahead, 3 changes`; removed and merged ones say so first. */
export function stateText(workspace: Workspace): string {
  const { removedAt, mergedAt, setup, changes, ahead, behind, kind } = workspace;
  if (removedAt !== null) return "removed";
  const parts = [
    mergedAt === null ? "" : "merged",
    setup?.state === "running" ? "setting up" : setup && setup.state !== "done" ? `setup ${setup.state}` : "",
    ahead ? `${ahead} ahead` : "",
    behind ? `${behind} behind` : "",
    changes ? counted(changes, "change") : "",
    kind === "worktree" && changes === null ? "unreadable" : "",
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : kind === "plain" ? "-" : "clean";
}

/** `new-login (src/login.ts), main (3 files)`. */
function conflictCell({ conflicts, baseConflicts, base }: Workspace): string {
  const withBase = baseConflicts.length > 0 ? [{ workspace: base ?? "its base", files: baseConflicts }] : [];
  return [...conflicts, ...withBase].map(({ workspace, files }) => `${plain(workspace)} (${filesInShort(files)})`).join(", ");
}

function filesInShort(files: readonly string[]): string {
  const [only = ""] = files;
  return files.length === 1 && only.length <= MOST_LETTERS ? plain(only) : counted(files.length, "file");
}

/** A longer path would push the rest of the line out of sight. */
const MOST_LETTERS = 40;

/** All details of a workspace, line by line. */
export function workspaceText(workspace: Workspace): string {
  const { conflicts, baseConflicts, base, setup } = workspace;
  const lines: (readonly [string, string] | undefined)[] = [
    ["workspace", `${color("bold", plain(workspace.name))}  ${color("dim", workspace.id)}`],
    ["path", plain(workspace.path)],
    workspace.repo === null ? undefined : ["repository", plain(workspace.repo)],
    workspace.branch === null
      ? undefined
      : ["branch", `${plain(workspace.branch)} from ${plain(base ?? "")} at ${(workspace.baseCommit ?? "").slice(0, 10)}`],
    ["state", stateText(workspace)],
    ["sessions", workspace.sessions.length === 0 ? "none" : workspace.sessions.map(plain).join(", ")],
    workspace.kind === "plain" ? undefined : ["ports", `${workspace.portBase} to ${workspace.portBase + workspace.ports - 1}`],
    setup === null
      ? undefined
      : [
          "set-up",
          `${plain(setup.command)}: ${setup.state}${setup.exitCode ? ` with exit code ${setup.exitCode}` : ""}; output: ${setup.log}`,
        ],
    ...conflicts.map(({ workspace: other, files }) => ["conflict", `with ${plain(other)}: ${fileList(files)}`] as const),
    baseConflicts.length > 0 ? ["conflict", `with ${plain(base ?? "its base")}: ${fileList(baseConflicts)}`] : undefined,
    ...workspace.notes.map((note) => ["note", plain(note)] as const),
    ["created", `${workspace.createdAt} by ${plain(workspace.owner)}`],
    workspace.recoveryRef === null
      ? undefined
      : ["recover", `holdfast workspace recover ${plain(workspace.name)}   (${workspace.recoveryRef})`],
  ];
  const shown = lines.filter((line) => line !== undefined);
  const width = Math.max(...shown.map(([label]) => label.length));
  return shown.map(([label, text]) => `${color("dim", label.padEnd(width))}  ${text}`).join("\n");
}

const MOST_FILES = 10;

function fileList(files: readonly string[]): string {
  const more = files.length - MOST_FILES;
  return `${files.slice(0, MOST_FILES).map(plain).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Losses of removing a workspace, one per line. */
export function lossLines({ files, commits, sessions }: Losses): string[] {
  return [...files, ...commits, ...sessions.map((name) => `session ${name}`)].map((line) => `  ${plain(line)}`);
}

export function pushedText({ remote, branch, said }: Pushed): string {
  const words = said === "" ? [] : said.split("\n").map((line) => `  ${plain(line)}`);
  return [`Pushed ${plain(branch)} to ${plain(remote)}.`, ...words].join("\n");
}

export function printNotes(notes: readonly string[]): void {
  for (const note of notes) process.stderr.write(`note: ${plain(note)}\n`);
}
