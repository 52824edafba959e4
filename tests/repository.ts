/** A real git repository in a test's home, without any user configuration. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Workspace } from "@holdfast/contract";
import type { TestHome } from "./home.ts";

export class TestRepository {
  readonly path: string;
  readonly #home: TestHome;

  /** Has one commit on `main`, unless there are no files. */
  constructor(home: TestHome, files: Readonly<Record<string, string>> = { "a.txt": "one\n" }, name = "app") {
    this.#home = home;
    home.env.GIT_CONFIG_NOSYSTEM = "1";
    this.path = path.join(home.root, name);
    mkdirSync(this.path, { recursive: true });
    this.git("config", "--global", "user.name", "Tester");
    this.git("config", "--global", "user.email", "tester@example.com");
    this.git("init", "--quiet", "--initial-branch=main");
    if (Object.keys(files).length > 0) this.commit(files, "first");
  }

  git(...args: string[]): string {
    return this.gitIn(this.path, ...args);
  }

  gitIn(directory: string, ...args: string[]): string {
    const options = { cwd: directory, env: this.#home.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] } as const;
    return execFileSync("git", args, { ...options, stdio: [...options.stdio] }).trimEnd();
  }

  write(files: Readonly<Record<string, string>>, directory = this.path): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
      writeFileSync(path.join(directory, name), text);
    }
  }

  commit(files: Readonly<Record<string, string>>, message: string, directory = this.path): string {
    this.write(files, directory);
    this.gitIn(directory, "add", "--all");
    this.gitIn(directory, "commit", "--quiet", "--allow-empty", "-m", message);
    return this.gitIn(directory, "rev-parse", "HEAD");
  }

  /** A workspace of the repository, created as by a user who trusts the project. */
  workspace(name: string, ...flags: string[]): Promise<Workspace> {
    return this.#home.json<Workspace>(["workspace", "create", name, "--trust", ...flags], { cwd: this.path });
  }
}
