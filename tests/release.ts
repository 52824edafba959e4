/** Holdfast as an installed package in any version: `bin/` and `dist/`, as npm unpacks them. */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { VERSION } from "@holdfast/contract";
import { type CliResult, HOLDFAST, ROOT, type TestHome } from "./home.ts";

export class Release implements Disposable {
  readonly root = mkdtempSync(path.join(tmpdir(), "hfr-"));
  readonly program = path.join(this.root, "bin", "holdfast");

  constructor(version: string = VERSION) {
    // Builds the bundles if necessary.
    execFileSync(HOLDFAST, ["version"], { stdio: "ignore" });
    const dist = path.join(this.root, "dist");
    mkdirSync(dist);
    cpSync(path.join(ROOT, "bin"), path.join(this.root, "bin"), { recursive: true });
    for (const name of readdirSync(path.join(ROOT, "dist")).filter((each) => /^\w.*\.[cm]js$/.test(each))) {
      const text = readFileSync(path.join(ROOT, "dist", name), "utf8");
      writeFileSync(path.join(dist, name), text.replaceAll(JSON.stringify(VERSION), JSON.stringify(version)));
    }
  }

  /** Runs a command of this release on the home. It uses the first Node on PATH. */
  cli(home: TestHome, args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> {
    const PATH = `${path.dirname(process.execPath)}:${home.env.PATH}`;
    return new Promise((resolve) => {
      execFile(this.program, args, { env: { ...home.env, PATH, ...env }, cwd: home.root }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      });
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
