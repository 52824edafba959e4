/** For tests: a real repository in a throw-away directory, and a home without anybody's configuration. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "./git.ts";

export interface ScratchRepository extends Disposable {
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
export function scratchRepository(): ScratchRepository {
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
