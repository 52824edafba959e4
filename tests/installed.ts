/**
 * Holdfast as a user gets it: packed, then installed by npm into its own prefix, without a compiler on PATH. Each test file packs a
 * version once.
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Session } from "@holdfast/contract";
import { type CliResult, ROOT, type TestHome } from "./home.ts";

/** The programs that npm, the CLI's shell script and the sessions of a test need; no compiler, make or python. */
const TOOLS = ["sh", "env", "readlink", "uname", "echo", "cat", "sleep", "npm"];

const folder = mkdtempSync(path.join(tmpdir(), "hfp-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const tarballs = new Map<string, string>();

/** The tarball of this checkout under a version. */
export function packed(version: string): string {
  const known = tarballs.get(version);
  if (known) return known;
  const args = [path.join(ROOT, "script/pack.mjs"), "--out", folder, "--version", version];
  const tarball = execFileSync(process.execPath, args, { encoding: "utf8" }).trim();
  tarballs.set(version, tarball);
  return tarball;
}

export class Installed implements Disposable {
  readonly root = mkdtempSync(path.join(tmpdir(), "hfi-"));
  /** The only directory on PATH. */
  readonly tools = path.join(this.root, "tools");
  readonly prefix = path.join(this.root, "prefix");

  constructor() {
    mkdirSync(this.tools);
    symlinkSync(process.execPath, path.join(this.tools, "node"));
    for (const name of TOOLS) symlinkSync(programOf(name), path.join(this.tools, name));
  }

  static async of(version: string): Promise<Installed> {
    const installed = new Installed();
    await installed.install(version);
    return installed;
  }

  /** Installs into the same prefix and replaces an earlier version. */
  install(version: string): Promise<void> {
    return this.npm(["install", "--global", "--prefix", this.prefix, packed(version)]);
  }

  async npm(args: readonly string[], cwd = this.root): Promise<void> {
    const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    // npm's settings (proxy, mirror) come from the machine; the programs that npm may start do not.
    await promisify(execFile)(path.join(this.tools, "npm"), [...args, ...quiet], { cwd, env: { ...process.env, PATH: this.tools } });
  }

  get program(): string {
    return path.join(this.prefix, "bin", "holdfast");
  }

  cli(home: TestHome, args: readonly string[], options: { program?: string; env?: Record<string, string> } = {}): Promise<CliResult> {
    const env = { ...home.env, PATH: this.tools, ...options.env };
    return new Promise((resolve) => {
      execFile(options.program ?? this.program, args, { env, cwd: home.root, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      });
    });
  }

  async json<T = Session>(home: TestHome, args: readonly string[]): Promise<T> {
    const [command = "", ...rest] = args;
    const { code, stdout, stderr } = await this.cli(home, [command, "--json", ...rest]);
    if (code !== 0) throw new Error(`holdfast ${args.join(" ")} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function programOf(name: string): string {
  const found = (process.env.PATH ?? "").split(":").find((directory) => existsSync(path.join(directory, name)));
  if (found === undefined) throw new Error(`${name} is not on PATH`);
  return realpathSync(path.join(found, name));
}
