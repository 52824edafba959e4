/**
 * A repository of 50,000 files, made by one `git fast-import`, which is faster than writing them. `small` is its first commit, with
 * one file; `main` is the second.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

export const FILES = 50_000;

/** Directories of 50 files, in groups of 20. */
function fileName(index: number): string {
  return `src/part${Math.floor(index / 1000)}/unit${Math.floor(index / 50) % 20}/file${index % 50}.txt`;
}

export class LargeRepository {
  readonly path: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(path: string, env: Readonly<Record<string, string>>) {
    this.path = path;
    this.#env = { ...env, GIT_CONFIG_NOSYSTEM: "1" };
    mkdirSync(path);
    this.git(["init", "--quiet", "--initial-branch=main"]);
    this.git(["config", "user.name", "Bench"]);
    this.git(["config", "user.email", "bench@example.com"]);
    const files = Array.from({ length: FILES }, (_, index) => inline(fileName(index), textOf(index)));
    this.#import([
      commit({ ref: "refs/heads/small", mark: 1 }),
      inline("README", "small\n"),
      commit({ ref: "refs/heads/main" }),
      "from :1\n",
      ...files,
    ]);
    this.git(["reset", "--quiet", "--hard"]);
  }

  /** Like a checkout in daily use: its index is newer than all its files. */
  async settle(): Promise<void> {
    await delay(1100);
    this.git(["status"]);
  }

  git(args: readonly string[], input = ""): string {
    return execFileSync("git", args, {
      cwd: this.path,
      env: this.#env,
      input,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "ignore"],
    }).trimEnd();
  }

  /** One commit on top of `main` each: it changes ten files that no other commit changes, and the same line of a shared file. */
  commits({ count, round }: { count: number; round: number }): string[] {
    const side = (index: number) => `refs/bench/${round}/${index}`;
    const changes = Array.from({ length: count }, (_, index) => [
      commit({ ref: side(index) }),
      "from refs/heads/main\n",
      ...Array.from({ length: 10 }, (_, which) => changed(index * 500 + which * 40 + 100, round)),
      inline(fileName(round), textOf(round).replace("line 3", `line 3 by ${index}`)),
    ]);
    this.#import(changes.flat());
    return Array.from({ length: count }, (_, index) => this.git(["rev-parse", side(index)]));
  }

  /** All in one call. */
  move(refs: Readonly<Record<string, string>>): void {
    const lines = Object.entries(refs).map(([ref, to]) => `update ${ref} ${to}\n`);
    this.git(["update-ref", "--stdin"], lines.join(""));
  }

  #import(parts: readonly string[]): void {
    this.git(["fast-import", "--quiet", "--force"], parts.join(""));
  }
}

function commit({ ref, mark }: { ref: string; mark?: number }): string {
  return `commit ${ref}\n${mark === undefined ? "" : `mark :${mark}\n`}committer Bench <bench@example.com> 1700000000 +0000\ndata 2\nx\n`;
}

function inline(name: string, text: string): string {
  return `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
}

function changed(index: number, round: number): string {
  return inline(fileName(index), textOf(index).replace("line 9", `line 9 of round ${round}`));
}

function textOf(index: number): string {
  return Array.from({ length: 20 }, (_, line) => `line ${line} of file ${index}\n`).join("");
}
