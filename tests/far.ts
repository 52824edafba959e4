/** Two machines for a test: a local home, and a remote one behind a real sshd on loopback, named `far`. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ROOT, TestHome } from "./home.ts";
import { Sshd } from "./sshd.ts";
import { Terminal } from "./terminal.ts";

export class TwoMachines implements AsyncDisposable {
  readonly near: TestHome;
  readonly far: TestHome;
  readonly sshd: Sshd;

  private constructor(homes: { near: TestHome; far: TestHome; sshd: Sshd }) {
    this.near = homes.near;
    this.far = homes.far;
    this.sshd = homes.sshd;
  }

  /** Where `bin` puts the remote holdfast: on the PATH of every shell, only of login shells, or nowhere. */
  static async start(
    options: { bin?: string; found?: "always" | "at login" | "never"; client?: readonly string[] } = {},
  ): Promise<TwoMachines> {
    const [near, far] = [new TestHome("near"), new TestHome("far")];
    const { bin = path.join(ROOT, "bin"), found = "always" } = options;
    const node = path.dirname(process.execPath);
    const PATH = found === "always" ? `${bin}:${node}:/usr/bin:/bin` : "/usr/bin:/bin";
    const HOME = far.env.HOME ?? "/";
    // A login script that prints a lot.
    const profile = `echo welcome to far\n${found === "at login" ? `PATH='${bin}:${node}':$PATH\n` : ""}`;
    for (const name of [".profile", ".bash_profile", ".zprofile"]) writeFileSync(path.join(HOME, name), profile);
    mkdirSync(path.join(HOME, ".config", "fish"), { recursive: true });
    const sshd = await Sshd.start(far.env, { PATH, HOME, HOLDFAST_HOME: far.path });
    near.env.PATH = `${sshd.client("far", options.client)}:${near.env.PATH}`;
    return new TwoMachines({ near, far, sshd });
  }

  /** A terminal on the local machine. */
  terminal(env: Record<string, string> = {}): Terminal {
    return new Terminal({ env: { ...this.near.env, ...env, PATH: `${path.join(ROOT, "bin")}:${this.near.env.PATH}` } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sshd[Symbol.asyncDispose]();
    await this.far[Symbol.asyncDispose]();
    await this.near[Symbol.asyncDispose]();
  }
}
