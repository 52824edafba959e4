/** `[workspace]` of a project's `.holdfast/config.toml`: how a workspace of it is made. Read from the tree that it is made from. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { isMissing } from "@holdfast/platform";
import { parse } from "smol-toml";

export interface Project {
  /** Untracked files and directories that a new worktree gets a copy of; `.env` fits at any depth, `conf/*.json` only there. */
  copy: string[];
  /** Run in a new workspace, by `sh -c`. */
  setup: string | null;
  /** How many TCP ports a workspace has for itself. */
  ports: number;
  /** What a workspace begins from, where nobody says; null: what is checked out. */
  base: string | null;
  /** Whether a first prompt points to the Working Context. */
  context: boolean;
  /** How many checkpoints are kept of a workspace. */
  checkpoints: number;
  /** Only what the file itself says of what is run and copied: it needs trust (trust.ts), the defaults do not. */
  asked: { setup: string | null; copy: string[] };
}

/** More than any project needs; read by every start in a new worktree. */
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

const KEYS: { [K in Exclude<keyof Project, "asked">]: { fits(value: unknown): boolean; isNot: string; example: string } } = {
  copy: {
    fits: (value) => Array.isArray(value) && value.every(isRule),
    isNot: "a list of paths below the project",
    example: 'copy = [".env"]',
  },
  setup: { fits: isText, isNot: "a command", example: 'setup = "npm ci"' },
  ports: { fits: (value) => isCount(value, 1000), isNot: "a number from 1 to 1000", example: "ports = 10" },
  base: { fits: isText, isNot: "a branch", example: 'base = "main"' },
  context: { fits: (value) => typeof value === "boolean", isNot: "true or false", example: "context = false" },
  checkpoints: { fits: (value) => isCount(value, 10_000), isNot: "a number from 1 to 10000", example: "checkpoints = 100" },
};

/** As without a file where there is none. Throws `usage` on what makes no sense, by name. */
export function readProject(tree: string | null): Project {
  if (tree === null) return DEFAULT_PROJECT;
  const file = projectFile(tree);
  const wrong = (what: string, hint: string, cause?: unknown) => new HoldfastError("usage", `${file}: ${what}`, { hint, cause });
  let table: unknown;
  try {
    const { size } = ordinaryFile(file);
    if (size > LARGEST_FILE) throw new Error("it has more than 1 MB");
    table = parse(readFileSync(file, "utf8")).workspace ?? {};
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return DEFAULT_PROJECT;
    const why = (error as Error).message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
    throw wrong(`it cannot be read: ${why}`, "correct it there", error);
  }
  if (typeof table !== "object" || table === null || Array.isArray(table))
    throw wrong("workspace is not a table", "for example: [workspace]");
  for (const [key, value] of Object.entries(table)) {
    const known = Object.hasOwn(KEYS, key) ? KEYS[key as keyof typeof KEYS] : undefined;
    if (!known) throw wrong(`nothing is called workspace.${key}`, `there are: ${Object.keys(KEYS).join(", ")}`);
    if (!known.fits(value)) throw wrong(`workspace.${key} is not ${known.isNot}`, `for example: ${known.example}`);
  }
  const said = table as Partial<Project>;
  return { ...DEFAULT_PROJECT, ...said, asked: { setup: said.setup ?? null, copy: said.copy ?? [] } };
}

export function projectFile(tree: string): string {
  return join(tree, ".holdfast/config.toml");
}

/** A pipe in its place would never end. */
function ordinaryFile(file: string): { size: number } {
  const stat = statSync(file);
  if (!stat.isFile()) throw new Error("it is not a file");
  return stat;
}

/** Never out of the project: it is somebody else's file when the repository is. */
function isRule(value: unknown): boolean {
  return isText(value) && !value.startsWith("/") && !value.split("/").includes("..");
}
