/** `workspace.json`, beside a worktree: data to rebuild a lost journal, and a mark of an unfinished creation. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DAEMON, WorkspaceId as Id, type Principal, WorkspaceSpec as Spec, type WorkspaceId, type WorkspaceSpec } from "@holdfast/contract";
import { isMissing, readJsonFile, writeFileAtomic } from "@holdfast/platform";
import { linkedDirectory, WORKSPACE_FILE } from "@holdfast/platform/git/place";

export interface WorkspaceFile extends WorkspaceSpec {
  owner: Principal;
  createdAt: string;
  /** True until the journal has the workspace. */
  making: boolean;
  /** Git's directory for the worktree. The `.git` file inside it is not trusted, because an agent can change it. */
  gitDir?: string | undefined;
  /** The umask of the user it was created for. Later files get the same. */
  umask?: number | undefined;
}

const FILE = WORKSPACE_FILE;

export function writeFiles(directory: string, file: WorkspaceFile): void {
  writeFileAtomic(join(directory, FILE), `${JSON.stringify(file, null, 2)}\n`);
}

/** Returns undefined if the file is damaged or missing. */
export function readFiles(directory: string): WorkspaceFile | undefined {
  const file = readJsonFile(join(directory, FILE)) as Partial<WorkspaceFile> | undefined;
  const spec = Spec.safeParse(file);
  if (!spec.success) return undefined;
  const { owner = DAEMON, createdAt = new Date(0).toISOString(), making = false, gitDir, umask } = file ?? {};
  return { ...spec.data, owner, createdAt, making, gitDir, umask };
}

/** Call after git has created the worktree. */
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
