/** `workspace.json`, beside a worktree: what a lost journal would have to find again, and whether its making was cut short. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DAEMON, WorkspaceId as Id, type Principal, WorkspaceSpec as Spec, type WorkspaceId, type WorkspaceSpec } from "@holdfast/contract";
import { isMissing, readJsonFile, writeFileAtomic } from "@holdfast/platform";
import { linkedDirectory, WORKSPACE_FILE } from "@holdfast/platform/git/place";

export interface WorkspaceFile extends WorkspaceSpec {
  owner: Principal;
  createdAt: string;
  /** Before the journal knew of it. */
  making: boolean;
  /** Where git keeps what belongs to the worktree: the `.git` inside it, which an agent can change, is not believed. */
  gitDir?: string | undefined;
  /** Of whom it was made for: what is made in it later is made so too. */
  umask?: number | undefined;
}

const FILE = WORKSPACE_FILE;

export function writeFiles(directory: string, file: WorkspaceFile): void {
  writeFileAtomic(join(directory, FILE), `${JSON.stringify(file, null, 2)}\n`);
}

/** Undefined when it is damaged or missing. */
export function readFiles(directory: string): WorkspaceFile | undefined {
  const file = readJsonFile(join(directory, FILE)) as Partial<WorkspaceFile> | undefined;
  const spec = Spec.safeParse(file);
  if (!spec.success) return undefined;
  const { owner = DAEMON, createdAt = new Date(0).toISOString(), making = false, gitDir, umask } = file ?? {};
  return { ...spec.data, owner, createdAt, making, gitDir, umask };
}

/** Once git has made the worktree. */
export function rememberGitDirectory(directory: string, common: string): void {
  const file = readFiles(directory);
  const gitDir = file && linkedDirectory(common, file.path);
  if (file && gitDir !== undefined) writeFiles(directory, { ...file, gitDir });
}

export function markReady(directory: string, spec: WorkspaceSpec): void {
  const file = readFiles(directory);
  if (file) writeFiles(directory, { ...file, ...spec, making: false });
}

export function workspacesOnDisk(directory: string): WorkspaceId[] {
  try {
    return readdirSync(directory).filter((name): name is WorkspaceId => Id.safeParse(name).success);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
