/** Files of a directory, for @ completion: tracked and untracked files in git, otherwise all files that are not hidden. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { runGit } from "@holdfast/platform/git/command";

const MOST_FILES = 20_000;
const GIT_MS = 2000;

/** Caches the list, so that not every key press reads the disk. */
const FRESH_MS = 5000;

const IGNORED: ReadonlySet<string> = new Set(["node_modules", "__pycache__", "target", "dist"]);

export class Files {
  readonly #directory: string;
  #known: { at: number; files: Promise<string[]> } | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Matching files: path prefixes first, then name prefixes, then other matches. */
  async matching(words: string, most = 50): Promise<string[]> {
    const files = await this.#all();
    const rank = (file: string) =>
      file.startsWith(words) ? 0 : file.slice(file.lastIndexOf("/") + 1).startsWith(words) ? 1 : file.includes(words) ? 2 : 3;
    const found = files.map((file) => ({ file, rank: rank(file) })).filter(({ rank }) => rank < 3);
    return found
      .sort((a, b) => a.rank - b.rank || a.file.length - b.file.length || (a.file < b.file ? -1 : 1))
      .slice(0, most)
      .map(({ file }) => file);
  }

  #all(): Promise<string[]> {
    if (!this.#known || performance.now() - this.#known.at > FRESH_MS) {
      this.#known = { at: performance.now(), files: gitFiles(this.#directory).catch(() => walk(this.#directory)) };
    }
    return this.#known.files;
  }
}

async function gitFiles(cwd: string): Promise<string[]> {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const { code, stdout, stderr } = await runGit(cwd, args, { signal: AbortSignal.timeout(GIT_MS) });
  if (code !== 0) throw new Error(stderr);
  return [...new Set(stdout.split("\0").filter((file) => file !== ""))].slice(0, MOST_FILES);
}

async function walk(directory: string): Promise<string[]> {
  const files: string[] = [];
  const waiting = [""];
  for (let below = waiting.shift(); below !== undefined && files.length < MOST_FILES; below = waiting.shift()) {
    const found = await readdir(join(directory, below), { withFileTypes: true }).catch(() => []);
    for (const entry of found) {
      if (entry.name.startsWith(".") || IGNORED.has(entry.name)) continue;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(path);
      else files.push(path);
    }
  }
  return files;
}
