/**
 * Reads `[workspace]` of a project's `.holdfast/config.toml`: how its workspaces are created. The file is read from the tree that a workspace is
 * created from.
 */
import { join } from "node:path";
import { HoldfastError, type Setting } from "@holdfast/contract";
import { isMissing, readOrdinaryFile, WrongSetting } from "@holdfast/platform";
import { parse } from "smol-toml";

export interface Project {
  /** Untracked files and directories to copy into a new worktree. `.env` matches at any depth, `conf/*.json` only there. */
  copy: string[];
  /** Command for a new workspace, run by `sh -c`. */
  setup: string | null;
  /** Number of TCP ports per workspace. */
  ports: number;
  /** Default branch that a workspace starts from; null: what is checked out. */
  base: string | null;
  /** True if a first prompt points to the Working Context. */
  context: boolean;
  /** Number of checkpoints to keep per workspace. */
  checkpoints: number;
  /** Commands and copies that the file itself requests. They need trust (trust.ts); the defaults do not. */
  asked: { setup: string | null; copy: string[] };
}

/** More than any project needs. Every start in a new worktree reads the file. */
const LARGEST_FILE = 1 << 20;

export const DEFAULT_PROJECT: Project = {
  copy: [".env", ".env.local"],
  setup: null,
  ports: 10,
  base: null,
  context: true,
  checkpoints: 100,
  asked: { setup: null, copy: [] },
};

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";
const isCount = (value: unknown, most: number): value is number => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most;

interface WorkspaceKey extends Setting {
  fits(value: unknown): boolean;
  isNot: string;
}

export const WORKSPACE_KEYS = {
  copy: {
    about: "Untracked files that a new worktree gets a copy of. A name matches at any depth; a path matches there. Needs trust.",
    takes: "a list of paths below the project",
    usual: '[".env", ".env.local"]',
    example: 'copy = [".env", "conf/*.json"]',
    fits: (value) => Array.isArray(value) && value.every(isRule),
    isNot: "a list of paths below the project",
  },
  setup: {
    about: "The command that prepares a new workspace, run by `sh -c`. Needs trust.",
    takes: "a command",
    usual: null,
    example: 'setup = "npm ci"',
    fits: isText,
    isNot: "a command",
  },
  ports: {
    about: "The number of TCP ports that each workspace gets for itself.",
    takes: "a whole number from 1 to 1000",
    usual: "10",
    example: "ports = 20",
    fits: (value) => isCount(value, 1000),
    isNot: "a number from 1 to 1000",
  },
  base: {
    about: "The branch a new workspace starts from. Default: what is checked out.",
    takes: "a branch",
    usual: null,
    example: 'base = "main"',
    fits: isText,
    isNot: "a branch",
  },
  context: {
    about: "Whether a first prompt points to the Working Context.",
    takes: "true or false",
    usual: "true",
    example: "context = false",
    fits: (value) => typeof value === "boolean",
    isNot: "true or false",
  },
  checkpoints: {
    about: "The number of checkpoints that are kept of a workspace.",
    takes: "a whole number from 1 to 10000",
    usual: "100",
    example: "checkpoints = 20",
    fits: (value) => isCount(value, 10_000),
    isNot: "a number from 1 to 10000",
  },
} as const satisfies { [K in Exclude<keyof Project, "asked">]: WorkspaceKey };

/** Returns the defaults if there is no file. Throws `usage` that names an invalid value. */
export function readProject(tree: string | null): Project {
  if (tree === null) return DEFAULT_PROJECT;
  const file = projectFile(tree);
  const wrong = (what: string, hint: string, cause?: unknown) => new HoldfastError("usage", `${file}: ${what}`, { hint, cause });
  let table: unknown;
  try {
    table = parse(readOrdinaryFile(file, LARGEST_FILE)).workspace ?? {};
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return DEFAULT_PROJECT;
    const why = (error as Error).message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
    throw wrong(`it cannot be read: ${why}`, "correct the file", error);
  }
  if (typeof table !== "object" || table === null || Array.isArray(table))
    throw wrong("workspace is not a table", "for example: [workspace]");
  checkWorkspace(file, table as Record<string, unknown>);
  const said = table as Partial<Project>;
  return { ...DEFAULT_PROJECT, ...said, asked: { setup: said.setup ?? null, copy: said.copy ?? [] } };
}

/** Throws on the first invalid value or unknown key. */
export function checkWorkspace(file: string, table: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(table)) {
    const known: WorkspaceKey | undefined = Object.hasOwn(WORKSPACE_KEYS, key)
      ? WORKSPACE_KEYS[key as keyof typeof WORKSPACE_KEYS]
      : undefined;
    const wrong = (what: string, hint: string) => new WrongSetting({ file, key: `workspace.${key}`, what, hint });
    if (!known) throw wrong("is not a setting", `settings: ${Object.keys(WORKSPACE_KEYS).join(", ")}`);
    if (!known.fits(value)) throw wrong(`is not ${known.isNot}`, `for example: ${known.example}`);
  }
}

export function projectFile(tree: string): string {
  return join(tree, ".holdfast/config.toml");
}

/** Rejects paths out of the project: the repository's author may be a stranger. */
function isRule(value: unknown): boolean {
  return isText(value) && !value.startsWith("/") && !value.split("/").includes("..");
}
