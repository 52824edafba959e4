/**
 * A throw-away home for one test: its own HOLDFAST_HOME, HOME and tmux server, a clean environment, and the CLI as a user has it.
 * Disposing it stops everything and fails the test if a process of this home remains.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { allProcesses, openHome, type ProcessInfo, signalProcess, withEnvironmentEntry } from "@holdfast/platform";
import { Holdfast, HoldfastClient, unixTransport } from "@holdfast/sdk";
import { homeAt } from "@holdfast/sdk/node/home";
import { onDemand } from "@holdfast/sdk/node/on-demand";

// When the tests run inside a session, its token belongs to another home.
delete process.env.HOLDFAST_TOKEN;

export const ROOT = path.join(import.meta.dirname, "..");
export const HOLDFAST = path.join(ROOT, "bin", "holdfast");

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Null keeps standard input open. */
  input?: string | Buffer | null;
}

export class TestHome implements AsyncDisposable {
  /** The directory with all files of the test. */
  readonly root: string;
  readonly path: string;
  readonly env: Record<string, string>;

  constructor(name = "home", below = tmpdir()) {
    this.root = mkdtempSync(path.join(below, "hf-"));
    this.path = path.join(this.root, name);
    const user = path.join(this.root, "user");
    mkdirSync(user, { recursive: true });
    this.env = {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      HOME: user,
      USER: "tester",
      SHELL: "/bin/sh",
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      // Nobody is there to leave the pager.
      HOLDFAST_PAGER: "cat",
      HOLDFAST_HOME: this.path,
    };
  }

  /** Starts a command and does not wait for it. */
  start(args: readonly string[], options: CliOptions = {}): ChildProcessWithoutNullStreams {
    const child = spawn(HOLDFAST, args, { cwd: options.cwd ?? this.root, env: { ...this.env, ...options.env }, stdio: "pipe" });
    // A command may exit before it reads its input; its exit code tells the result.
    child.stdin.on("error", () => {});
    if (options.input !== null) child.stdin.end(options.input ?? "");
    return child;
  }

  async cli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
    const child = this.start(args, options);
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      stderr += chunk;
    });
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    return { code, stdout, stderr };
  }

  /** Runs a command that must succeed; returns its output. */
  ok(args: readonly string[], options: CliOptions = {}): Promise<string> {
    const printed = this.cli(args, options).then(({ code, stdout, stderr }) => {
      if (code !== 0) throw new Error(`holdfast ${args.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    });
    // A result that is awaited later may reject before: only the await reports it.
    printed.catch(() => {});
    return printed;
  }

  /** Runs a command that must succeed, with --json; returns the parsed output. */
  async json<T>(args: readonly string[], options: CliOptions = {}): Promise<T> {
    const [command = "", ...rest] = args;
    return JSON.parse(await this.ok([command, "--json", ...rest], options)) as T;
  }

  /** A background shell running this script. */
  run(script: string, ...flags: string[]): Promise<Session> {
    return this.json<Session>(["run", ...flags, "--", "sh", "-c", script]);
  }

  session(ref: string): Promise<Session> {
    return this.json<Session>(["show", ref]);
  }

  /** Waits until the session meets the condition. Asks the daemon's socket: running a command for every look would keep a core busy. */
  until(ref: string, condition: (session: Session) => boolean): Promise<Session> {
    let client: HoldfastClient | undefined;
    const look = async () => {
      if (client !== undefined)
        try {
          return await client.call("getSession", { params: { ref } });
        } catch {
          // The daemon is gone or answers with an error: the command starts it, or reports the reason.
          client = undefined;
        }
      const session = await this.session(ref);
      client = this.client();
      return session;
    };
    return eventually(async () => {
      const session = await look();
      return condition(session) && session;
    }).finally(() => client?.[Symbol.dispose]());
  }

  ended(ref: string): Promise<Session> {
    return this.until(ref, (session) => session.endedAt !== null);
  }

  /** Marks the end of the session as seen by a person on a terminal. */
  async lookAt(ref: string): Promise<void> {
    using client = this.client();
    await client.call("viewSession", { params: { ref }, body: {} });
  }

  /** A client of the running daemon. */
  client(): HoldfastClient {
    return new HoldfastClient(unixTransport(openHome(this.env).daemonSocket));
  }

  /** The SDK as `connect` returns it in the home's directory and environment. */
  sdk(): Holdfast {
    const transport = onDemand(homeAt(this.path), { token: undefined, starter: { program: HOLDFAST, env: this.env } });
    return new Holdfast(new HoldfastClient(transport), { cwd: () => this.root, env: () => this.env });
  }

  get socketDirectory(): string {
    return openHome(this.env).socketDirectory;
  }

  async daemonPid(): Promise<number> {
    return (await this.json<{ pid: number }>(["status"])).pid;
  }

  /** Kills the daemon with SIGKILL and waits for its end. */
  async killDaemon(): Promise<void> {
    const pid = await this.daemonPid();
    process.kill(pid, "SIGKILL");
    await eventually(() => !allProcesses().has(pid) || allProcesses().get(pid)?.zombie || undefined);
  }

  /** Every live process that was started with this home in its environment. */
  processes(): ProcessInfo[] {
    const table = allProcesses();
    const pids = withEnvironmentEntry(`HOLDFAST_HOME=${this.path}`, table.keys());
    return [...table.values()].filter((info) => pids.has(info.pid) && !info.zombie);
  }

  /** Overridden by a home on its own disk. */
  protected unmount(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    const { code, stderr } = await this.cli(["down", "--all", "--grace", "1s"]);
    const left = await eventually(() => (this.processes().length === 0 ? [] : undefined)).catch(() => this.processes());
    for (const { pid, start } of left) signalProcess(pid, start, "SIGKILL");
    rmSync(this.socketDirectory, { recursive: true, force: true });
    this.unmount();
    rmSync(this.root, { recursive: true, force: true });
    if (left.length > 0) throw new Error(`processes of the home were left: ${left.map(({ pid, name }) => `${pid} ${name}`).join(", ")}`);
    if (code !== 0) throw new Error(`holdfast down --all ended with ${code}: ${stderr}`);
  }
}

/** Returns the first answer that is neither undefined nor false; fails when none comes in time. */
export async function eventually<T>(
  question: () => T | undefined | false | Promise<T | undefined | false>,
  patienceMs = 40_000,
  everyMs = 15,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const asked = performance.now();
    const answer = await question();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`it did not happen within ${patienceMs} ms: ${question}`);
    // Waits at least as long as the question took: a question that starts a process must leave CPU time to the program under test.
    await new Promise((resolve) => setTimeout(resolve, Math.max(everyMs, performance.now() - asked)));
  }
}
