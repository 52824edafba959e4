/** A throw-away user of this machine with its own group; removed with all its files after the test. Needs root. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type CliResult, eventually, HOLDFAST } from "./home.ts";

export const CAN_MAKE_USERS = process.getuid?.() === 0;

export class OtherUser implements AsyncDisposable {
  /** Its group has the same name. */
  readonly name = `hf${randomBytes(4).toString("hex")}`;
  readonly directory = mkdtempSync(path.join(tmpdir(), "hfu-"));
  readonly env: Record<string, string> = {};
  readonly uid: number;

  constructor() {
    execFileSync("useradd", ["-M", "-U", "-s", "/bin/sh", "-d", this.directory, this.name], { stdio: "ignore" });
    const [, , uid, gid] = execFileSync("getent", ["passwd", this.name], { encoding: "utf8" }).split(":");
    this.uid = Number(uid);
    chownSync(this.directory, this.uid, Number(gid));
    Object.assign(this.env, {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      HOME: this.directory,
      USER: this.name,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
    });
  }

  /** The words that run a command as this user, in a clean environment. */
  words(...command: string[]): string[] {
    const env = Object.entries(this.env).map(([name, value]) => `${name}=${value}`);
    return ["runuser", "-u", this.name, "--", "env", "-i", ...env, ...command];
  }

  cli(...args: string[]): CliResult {
    const [file = "", ...words] = this.words(HOLDFAST, ...args);
    const { status, stdout, stderr } = spawnSync(file, words, { cwd: this.directory, encoding: "utf8" });
    return { code: status, stdout, stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A user cannot be removed while one of its processes exits.
    await eventually(() => spawnSync("userdel", [this.name], { stdio: "ignore" }).status === 0);
    rmSync(this.directory, { recursive: true, force: true });
  }
}
