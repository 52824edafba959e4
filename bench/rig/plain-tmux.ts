/**
 * The baseline: a separate tmux server with its default configuration, driven by a plain script over one control client. Programs start
 * with Holdfast's launch files, command sequence and recorder; there is no daemon, no journal and no watcher.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { newSessionId } from "@holdfast/contract";
import { splitRecorder, startCommands } from "@holdfast/daemon/host/tmux/commands";
import { ControlClient } from "@holdfast/daemon/host/tmux/control";
import { launchFile } from "@holdfast/daemon/session/run/launch-file";
import { inspect, isSameProcess, type ProcessInfo } from "@holdfast/platform";
import { eventually } from "../../tests/home.ts";
import { recorderOf, usualEnvironment } from "./home.ts";
import { opened } from "./left-over.ts";

export interface Pane {
  session: string;
  pid: number;
  directory: string;
}

export class PlainTmux implements AsyncDisposable {
  readonly directory = mkdtempSync(path.join(tmpdir(), "hfp-"));
  readonly env: Record<string, string>;
  readonly client: ControlClient;
  readonly #server: ProcessInfo;
  readonly #panes: Pane[] = [];
  readonly #closed = opened(this);

  constructor() {
    this.env = {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      HOME: this.directory,
      SHELL: "/bin/sh",
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      // The start commands use it in the names of their files.
      HOLDFAST_HOME: this.directory,
    };
    this.#tmux("-f", "/dev/null", "new-session", "-d", "-s", "anchor", "-x", "80", "-y", "24", "sleep", "1000000");
    const server = inspect(Number(this.#tmux("display-message", "-p", "#{pid}")));
    if (!server) throw new Error("the plain tmux server did not start");
    this.#server = server;
    const command = ["tmux", "-u", "-S", this.socket, "-C", "attach-session", "-f", "no-output,ignore-size", "-t", "=anchor"];
    this.client = new ControlClient({ command, env: this.env, onEnd: () => {} });
  }

  get socket(): string {
    return path.join(this.directory, "sock");
  }

  async start(command: string[]): Promise<Pane> {
    const session = newSessionId();
    const directory = path.join(this.directory, "sessions", session, "runs", "1");
    mkdirSync(directory, { recursive: true });
    const env = usualEnvironment(this.env);
    writeFileSync(path.join(directory, "launch"), launchFile({ cwd: "/", umask: 0o022, env, inherited: Object.keys(this.env), command }));
    const request = { session, run: 1, directory, title: "plain", columns: 120, rows: 40 };
    const replies = await this.client.run(...startCommands(request, { recorder: splitRecorder("output."), reaper: undefined }));
    const pane = { session: `${session}-1`, pid: Number(replies.at(-1)?.[0]), directory };
    this.#panes.push(pane);
    return pane;
  }

  async startMany(count: number, command: string[]): Promise<Pane[]> {
    const panes: Pane[] = [];
    while (panes.length < count) panes.push(await this.start(command));
    return panes;
  }

  attachCommand(pane: Pane): string[] {
    return ["tmux", "-u", "-S", this.socket, "attach-session", "-t", `=${pane.session}:`];
  }

  async kill(pane: Pane): Promise<void> {
    await this.client.run(`kill-session -t '=${pane.session}'`);
  }

  async parts(): Promise<Record<"server" | "recorders", number[]>> {
    const recorders = await Promise.all(this.#panes.map((pane) => recorderOf(pane.directory)));
    return { server: [this.#server.pid], recorders };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed();
    await this.client.run("kill-server").catch(() => {});
    await this.client[Symbol.asyncDispose]();
    await eventually(() => !isSameProcess(this.#server.pid, this.#server.start));
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }

  #tmux(...args: string[]): string {
    return execFileSync("tmux", ["-u", "-S", this.socket, ...args], { env: this.env, encoding: "utf8" });
  }
}
