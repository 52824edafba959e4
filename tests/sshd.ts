/** A real sshd on loopback for one test, with its own configuration, keys and port; the machine's sshd is not touched. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { allProcesses, isSameProcess } from "@holdfast/platform";
import { eventually } from "./home.ts";

const SSHD = "/usr/sbin/sshd";

export class Sshd implements AsyncDisposable {
  readonly #directory = mkdtempSync(path.join(tmpdir(), "hfssh-"));
  readonly #env: Record<string, string>;
  #port = 0;
  #server: ChildProcess | undefined;

  private constructor(env: Record<string, string>) {
    this.#env = env;
  }

  /** `loginEnv` is the environment of every login. */
  static async start(env: Record<string, string>, loginEnv: Record<string, string> = {}): Promise<Sshd> {
    if (!existsSync(SSHD)) throw new Error("sshd is missing: apt-get install -y openssh-server");
    const sshd = new Sshd(env);
    await sshd.#start(loginEnv);
    return sshd;
  }

  /**
   * A directory with an `ssh` that knows this machine as `name`, as a user's configuration would; `more` are extra lines of it. The file
   * `calls` there has one line per call.
   */
  client(name: string, more: readonly string[] = []): string {
    const directory = mkdtempSync(this.#file("client-"));
    const lines = [
      ...more,
      "HostName 127.0.0.1",
      `Port ${this.#port}`,
      `User ${userInfo().username}`,
      `IdentityFile ${this.#file("user")}`,
      "IdentitiesOnly yes",
      "StrictHostKeyChecking accept-new",
      `UserKnownHostsFile ${path.join(directory, "known")}`,
    ];
    writeFileSync(path.join(directory, "config"), `Host ${name}\n${lines.map((line) => `  ${line}\n`).join("")}`);
    const real = execFileSync("sh", ["-c", "command -v ssh"], { encoding: "utf8" }).trim();
    writeFileSync(
      path.join(directory, "ssh"),
      `#!/bin/sh\nprintf '%s\\n' "$*" >>${path.join(directory, "calls")}\nexec ${real} -F ${path.join(directory, "config")} "$@"\n`,
      { mode: 0o755 },
    );
    return directory;
  }

  /** Breaks every connection without a goodbye. */
  cut(): void {
    for (const { pid, start } of this.logins()) if (isSameProcess(pid, start)) process.kill(pid, "SIGKILL");
  }

  /** Silences every connection without notice to either end. */
  freeze(): void {
    for (const { pid, start } of this.logins()) if (isSameProcess(pid, start)) process.kill(pid, "SIGSTOP");
  }

  /** Takes the machine offline: nothing listens, and every connection is gone. */
  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#server?.once("exit", resolve));
    this.cut();
    this.#server?.kill("SIGKILL");
    await ended;
  }

  /** Brings it back at the same address; retries while another program has that port. */
  async open(): Promise<void> {
    rmSync(this.#file("pid"), { force: true });
    await eventually(() => {
      if (!this.#server || this.#server.exitCode !== null || this.#server.signalCode !== null) {
        this.#server = spawn(SSHD, ["-D", "-e", "-f", this.#file("config")], { stdio: "ignore" });
      }
      return existsSync(this.#file("pid"));
    });
  }

  /** The shell words that run a command over ssh; `-tt` gives it a terminal. */
  command(remote: string, ...flags: string[]): string[] {
    const options = [
      "StrictHostKeyChecking=no",
      `UserKnownHostsFile=${this.#file("known")}`,
      "IdentitiesOnly=yes",
      "LogLevel=ERROR",
      "BatchMode=yes",
    ];
    const where = ["-F", "none", "-p", String(this.#port), "-i", this.#file("user"), ...options.flatMap((option) => ["-o", option])];
    const variables = Object.entries(this.#env).map(([name, value]) => `${name}='${value}'`);
    return ["ssh", ...where, ...flags, `${userInfo().username}@127.0.0.1`, `env -i ${variables.join(" ")} ${remote}`];
  }

  /** The sshd processes that serve logins. */
  logins(): { pid: number; start: string }[] {
    const table = allProcesses();
    const root = this.#server?.pid ?? 0;
    const below = (pid: number): boolean => pid === root || (table.has(pid) && pid !== 1 && below(table.get(pid)?.parent ?? 1));
    return [...table.values()].filter((info) => info.pid !== root && info.name === "sshd" && below(info.pid));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server?.kill("SIGKILL");
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #start(loginEnv: Record<string, string>): Promise<void> {
    for (const name of ["host", "user"]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", this.#file(name)]);
    writeFileSync(this.#file("authorized"), readFileSync(this.#file("user.pub")), { mode: 0o600 });
    // sshd as root requires this directory, which the package's service would create.
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
    this.#port = await freePort();
    const configuration = [
      `Port ${this.#port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${this.#file("host")}`,
      `AuthorizedKeysFile ${this.#file("authorized")}`,
      `PidFile ${this.#file("pid")}`,
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin prohibit-password",
      "StrictModes no",
      "UsePAM no",
      "MaxSessions 20",
      ...(Object.keys(loginEnv).length > 0
        ? [
            `SetEnv ${Object.entries(loginEnv)
              .map(([name, value]) => `"${name}=${value}"`)
              .join(" ")}`,
          ]
        : []),
    ];
    writeFileSync(this.#file("config"), `${configuration.join("\n")}\n`);
    await this.open();
  }

  #file(name: string): string {
    return path.join(this.#directory, name);
  }
}

/** Not from the ephemeral range: the kernel could give the port to another program while sshd is offline. */
async function freePort(): Promise<number> {
  const [first, end] = [10_000, 20_000];
  return eventually(() => {
    const port = first + Math.floor(Math.random() * (end - first));
    return new Promise<number | undefined>((resolve) => {
      const server = createServer()
        .once("error", () => resolve(undefined))
        .listen(port, "127.0.0.1", () => server.close(() => resolve(port)));
    });
  });
}
