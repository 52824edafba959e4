/** For tests: a real repository with one commit and its working trees, in a temporary directory, isolated from the machine's git configuration. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../src/workspace/git/git.ts";

export class ScratchRepository implements Disposable {
  readonly root: string;
  /** The main working tree, on `main`. */
  readonly path: string;
  readonly env: Record<string, string>;

  /** Makes one commit with these files. */
  constructor(files: Readonly<Record<string, string>> = { "a.txt": "one\n" }) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "hf-git-")));
    this.path = join(this.root, "project");
    mkdirSync(join(this.root, "user"));
    this.env = {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      HOME: join(this.root, "user"),
      GIT_CONFIG_NOSYSTEM: "1",
    };
    mkdirSync(this.path);
    this.git("init", "--quiet", "--initial-branch", "main");
    this.git("config", "--global", "user.name", "Tester");
    this.git("config", "--global", "user.email", "tester@example.com");
    this.commit(files, "first");
  }

  /** The git directory shared by all working trees. */
  get common(): string {
    return join(this.path, ".git");
  }

  git(...args: string[]): string {
    return this.gitIn(this.path, ...args);
  }

  gitIn(directory: string, ...args: string[]): string {
    return execFileSync("git", args, { cwd: directory, env: this.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).replace(
      /\n$/,
      "",
    );
  }

  /** Adds a working tree on a new branch from `main`. */
  worktree(name: string, branch = `holdfast/${name}`, base = "main"): string {
    const path = join(this.root, name);
    this.git("worktree", "add", "--quiet", "-b", branch, path, base);
    return path;
  }

  write(files: Readonly<Record<string, string>>, directory = this.path): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), text);
    }
  }

  read(name: string, directory = this.path): string {
    return readFileSync(join(directory, name), "utf8");
  }

  commit(files: Readonly<Record<string, string>>, message: string, directory = this.path): string {
    this.write(files, directory);
    this.gitIn(directory, "add", "--all");
    this.gitIn(directory, "commit", "--quiet", "--allow-empty", "-m", message);
    return this.gitIn(directory, "rev-parse", "HEAD");
  }

  /** Returns all refs, staged files and changes. Equal values before and after mean that nothing changed. */
  state(...trees: string[]): string {
    const refs = this.git("for-each-ref", "--format=%(refname) %(objectname)");
    const of = (tree: string) => `${this.gitIn(tree, "status", "--porcelain=v1", "--branch")}\n${this.gitIn(tree, "ls-files", "--stage")}`;
    return [refs, ...[this.path, ...trees].map(of)].join("\n");
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export interface Scratch extends Disposable {
  /** The temporary directory. */
  directory: string;
  path: string;
  env: Environment;
  /** Returns git's output without the final newline. */
  git(...args: string[]): string;
  write(path: string, content: string | Uint8Array): void;
  remove(path: string): void;
  /** Commits all files. */
  commit(message: string): string;
}

/** Creates a repository without commits. */
export function scratchRepository(): Scratch {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-git-"));
  const path = join(directory.path, "repo");
  const env = { PATH: process.env.PATH, HOME: directory.path, GIT_CONFIG_NOSYSTEM: "1" };
  const run = (...args: string[]): string =>
    execFileSync("git", args, { cwd: path, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).replace(/\n$/, "");
  mkdirSync(path);
  run("init", "--quiet", "--initial-branch=main");
  run("config", "user.name", "Ann");
  run("config", "user.email", "ann@example.org");
  return {
    directory: directory.path,
    path,
    env,
    git: run,
    write(file, content) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), content);
    },
    remove: (file) => rmSync(join(path, file), { recursive: true }),
    commit(message) {
      run("add", "--all");
      run("commit", "--quiet", "--allow-empty", "--message", message);
      return run("rev-parse", "HEAD");
    },
    [Symbol.dispose]: () => directory.remove(),
  };
}
