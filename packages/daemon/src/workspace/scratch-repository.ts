/** For tests: a real repository with one commit, and working trees of it, in a directory that goes with it; no configuration of the machine counts. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "./git.ts";

export class ScratchRepository implements Disposable {
  readonly root: string;
  /** The main working tree, on `main`. */
  readonly path: string;
  readonly env: Record<string, string>;

  /** With one commit of these files. */
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

  /** What all its working trees share. */
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

  /** A working tree of its own, on a new branch from `main`. */
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

  /** All that git can tell of it: refs, what is staged, what is changed; equal before and after means that nothing was changed. */
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
  /** Holds all of it. */
  directory: string;
  path: string;
  env: Environment;
  /** What git printed, without the last line's end. */
  git(...args: string[]): string;
  write(path: string, content: string | Uint8Array): void;
  remove(path: string): void;
  /** All that is there, as a commit. */
  commit(message: string): string;
}

/** Without a commit. */
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
