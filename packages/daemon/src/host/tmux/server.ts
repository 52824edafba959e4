/**
 * Our private tmux server: found again, brought back, or started, in that order. A second server would hide the live panes of
 * the first, so one is started only when the recorded one (pid and start time) is certainly gone.
 */
import { execFile, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError, unwritable } from "@holdfast/contract";
import {
  allProcesses,
  argumentsOf,
  findProgram,
  type Home,
  inScope,
  inspect,
  isSameProcess,
  isStopped,
  log,
  minimalEnvironment,
  readJsonFile,
  STANDARD_PATH,
  secureSocketDirectory,
  signalProcess,
  writeFileAtomic,
} from "@holdfast/platform";
import { ANCHOR } from "./commands.ts";
import { nextSession, PANE_DIED, PANE_RESIZED, tmuxConfiguration } from "./configuration.ts";
import { ControlClient, type ControlListener } from "./control.ts";
import { forgetLeft } from "./left.ts";
import { findReaper, PANE_REAPER } from "./reaper.ts";

export interface TmuxProgram {
  path: string;
  version: string;
}

interface Said {
  ok: boolean;
  said: string;
}

/** A server that is silent for this long is taken for one whose socket is gone. */
const ANSWER_MS = 10_000;
/** A server that was told to end and has not begun after this time lost the client that told it. */
const HEARD_MS = 1000;
/** How long a server that lives may take to answer on its new socket: a daemon that starts waits for it. */
const SOCKET_MS = 3000;

export const TMUX_HINT = "install it (Debian: apt-get install tmux; macOS: brew install tmux)";

export function findTmux(home: Home): TmuxProgram | undefined {
  const extra = process.env.HOME ? `:${process.env.HOME}/.nix-profile/bin:${process.env.HOME}/.local/bin` : "";
  const path = findProgram("tmux", STANDARD_PATH + extra, "/");
  if (!path) return undefined;
  const reply = spawnSync(path, ["-V"], { encoding: "utf8", env: minimalEnvironment(home) });
  return { path, version: reply.stdout?.trim().replace(/^tmux /, "") ?? "unknown" };
}

/** Numbers of a version such as `3.3a` or `next-3.6`, to compare. */
export function tmuxAtLeast(version: string, major: number, minor: number): boolean {
  const match = /(\d+)\.(\d+)/.exec(version);
  if (!match) return false;
  const [have, haveMinor] = [Number(match[1]), Number(match[2])];
  return have > major || (have === major && haveMinor >= minor);
}

export class TmuxServer {
  readonly program: TmuxProgram;
  readonly #home: Home;
  readonly #env: Record<string, string>;
  readonly #configuration: string;
  /** perl, where a pane can have a reaper. */
  readonly reaper: string | undefined;
  #pid: { pid: number; start: string } | undefined;

  constructor(options: {
    home: Home;
    program: TmuxProgram;
    detachKey: string;
    nextKey: string;
    cli: readonly string[];
    reaper?: string | undefined;
  }) {
    this.#home = options.home;
    this.program = options.program;
    this.reaper = "reaper" in options ? options.reaper : findReaper();
    this.#env = minimalEnvironment(options.home);
    const terminal =
      spawnSync("infocmp", ["tmux-256color"], { env: this.#env, stdio: "ignore" }).status === 0 ? "tmux-256color" : "screen-256color";
    const resizeHook = tmuxAtLeast(this.program.version, 3, 3);
    this.#configuration = tmuxConfiguration({ ...options, terminal, resizeHook, socketDirectory: options.home.socketDirectory });
    forgetLeft(options.home.socketDirectory);
    writeFileAtomic(this.#file("tmux.conf"), this.#configuration);
    writeFileAtomic(this.#file("pane-died"), PANE_DIED);
    writeFileAtomic(this.#file("pane-resized"), PANE_RESIZED);
    writeFileAtomic(this.#file("pane-reaper"), PANE_REAPER);
    writeFileAtomic(this.#file("next-session"), nextSession({ cli: options.cli, tmux: options.program.path }));
  }

  get pid(): number | undefined {
    return this.#pid && isSameProcess(this.#pid.pid, this.#pid.start) ? this.#pid.pid : undefined;
  }

  /** Makes the server ask the kernel which of its children have ended. */
  lookForEnded(): void {
    if (this.#pid) signalProcess(this.#pid.pid, this.#pid.start, "SIGCHLD");
  }

  /** A control client of the server that runs, or undefined when certainly none does. */
  async find(listener: ControlListener): Promise<ControlClient | undefined> {
    secureSocketDirectory(this.#home);
    if (!(await this.#answers())) {
      const silent = this.#recorded() ?? this.#unrecorded();
      if (!silent) return undefined;
      // It ended while we looked.
      if (!(await this.bringBackSocket(silent))) return undefined;
    }
    await this.#configure();
    return this.#connect(listener);
  }

  /** Like `find`, starting the server when there is none. */
  async open(listener: ControlListener): Promise<ControlClient> {
    const found = await this.find(listener);
    if (found) return found;
    // A server reads it only once; whatever has happened to the file since this daemon began must not be what it reads.
    writeFileAtomic(this.#file("tmux.conf"), this.#configuration);
    const started = await this.#openAnchor();
    if (!started.ok && /No space left on device/.test(started.said)) {
      throw HoldfastError.from(Object.assign(new Error(started.said), { code: "ENOSPC", path: this.#home.tmuxSocket }));
    }
    if (!started.ok) {
      throw new HoldfastError("host_failed", `tmux did not start: ${started.said}`, {
        hint: `try it: ${this.program.path} -S ${this.#home.tmuxSocket} new-session`,
      });
    }
    return this.#connect(listener);
  }

  /** For somebody who is about to go by the socket's path: where there is none, `tmux attach` starts a second server. */
  async ensureSocket(): Promise<void> {
    if (!existsSync(this.#home.tmuxSocket)) await this.bringBackSocket();
  }

  /** A tmux server makes its socket anew on SIGUSR1; starting a second server instead would hide the live one. */
  async bringBackSocket(known = this.#pid): Promise<boolean> {
    secureSocketDirectory(this.#home);
    if (!known || !signalProcess(known.pid, known.start, "SIGUSR1")) return false;
    const deadline = performance.now() + SOCKET_MS;
    while (performance.now() < deadline) {
      // One that is being killed closes its sockets a moment before it is gone.
      if (!isSameProcess(known.pid, known.start)) return false;
      if (await this.#answers(SOCKET_MS)) return true;
      await delay(20);
    }
    throw this.#silent(known.pid) ?? this.#withoutSocket(known.pid);
  }

  /** The error, or what is known to be behind it. */
  diagnosed(error: unknown): unknown {
    return (this.#pid && this.#silent(this.#pid.pid)) ?? error;
  }

  #silent(pid: number): HoldfastError | undefined {
    if (!isStopped(pid)) return undefined;
    return new HoldfastError("host_failed", `the tmux server (pid ${pid}) is stopped, so it does not answer`, {
      hint: `continue it: kill -CONT ${pid}`,
    });
  }

  #withoutSocket(pid: number): HoldfastError {
    return new HoldfastError(
      "host_failed",
      `the tmux server (pid ${pid}) runs, but does not answer on its socket ${this.#home.tmuxSocket}`,
      {
        hint: "its sessions are alive; check that you own the socket's directory and can write to it, and that the process is not stuck",
      },
    );
  }

  /** Resolves when the server that was told to end has ended; one that cannot have heard it is told by signal. */
  async gone(): Promise<void> {
    const known = this.#pid;
    const began = performance.now();
    let signalled = false;
    while (known && isSameProcess(known.pid, known.start) && performance.now() < began + ANSWER_MS) {
      if (!signalled && performance.now() > began + HEARD_MS) signalled = signalProcess(known.pid, known.start, "SIGTERM");
      await delay(5);
    }
  }

  async #connect(listener: ControlListener): Promise<ControlClient> {
    if (!(await this.#tmux("has-session", "-t", `=${ANCHOR}`)).ok) await this.#openAnchor();
    const client = new ControlClient({
      command: [
        this.program.path,
        "-u",
        "-S",
        this.#home.tmuxSocket,
        "-C",
        "attach-session",
        "-f",
        // Not ignore-size: tmux lets a reader's size count when every client on the server has that flag. A control client that
        // never says a size resizes nothing.
        "no-output",
        "-t",
        `=${ANCHOR}`,
      ],
      env: this.#env,
      ...listener,
    });
    try {
      const [reply, others = []] = await client.run(
        "display-message -p '#{pid}'",
        `list-clients -t '=${ANCHOR}:' -F '#{client_control_mode} #{client_pid}'`,
      );
      this.#remember(Number(reply?.[0]));
      dropOrphans(others, client.pid);
      return client;
    } catch (error) {
      await client[Symbol.asyncDispose]();
      throw error;
    }
  }

  #remember(pid: number): void {
    const info = inspect(pid);
    if (!info) throw new HoldfastError("host_failed", `tmux says that its server is process ${pid}, which is not there`);
    this.#pid = { pid, start: info.start };
    try {
      writeFileAtomic(this.#home.tmuxFile, `${JSON.stringify(this.#pid)}\n`);
    } catch (error) {
      // A server that no file names is found by its socket.
      if (!unwritable(error)) throw error;
    }
  }

  /** Starts the server, too, when there is none; then it must not read a person's own configuration. */
  #openAnchor(): Promise<Said> {
    const size = ["-x", "80", "-y", "24"];
    const anchor = ["-f", this.#file("tmux.conf"), "new-session", "-d", "-s", ANCHOR, ...size, "/bin/sh", "-c", ":"];
    return this.#tmuxWith({ scope: `holdfast-tmux-${randomUUID()}` }, ...anchor);
  }

  /**
   * Brings a server that an older Holdfast started up to date. Not by the control client, which gets a reply for every line. Not by
   * the file's path either: tmux takes `[` and `*` in it for a pattern.
   */
  async #configure(): Promise<void> {
    const { ok, said } = await this.#tmuxWith({ input: this.#configuration }, "source-file", "-");
    if (!ok) log(`tmux does not take its configuration: ${said}`);
  }

  #recorded(): { pid: number; start: string } | undefined {
    const file = readJsonFile(this.#home.tmuxFile) as { pid?: unknown; start?: unknown } | undefined;
    if (typeof file?.pid !== "number" || typeof file.start !== "string") return undefined;
    return isSameProcess(file.pid, file.start) ? { pid: file.pid, start: file.start } : undefined;
  }

  /**
   * A server of this home that no file names: the last daemon was killed before it could write it down. By its socket, which is
   * in its arguments: a person's own tmux may well have our HOLDFAST_HOME in its environment.
   */
  #unrecorded(): { pid: number; start: string } | undefined {
    const servers = [...allProcesses().values()].filter((info) => info.name === "tmux: server" && !info.zombie);
    return servers.find((info) => argumentsOf(info.pid).includes(this.#home.tmuxSocket));
  }

  async #answers(timeout = ANSWER_MS): Promise<boolean> {
    return (await this.#tmuxWith({ timeout }, "list-sessions")).ok;
  }

  #tmux(...args: string[]): Promise<Said> {
    return this.#tmuxWith({}, ...args);
  }

  #tmuxWith(
    { timeout = ANSWER_MS, input = "", scope }: { timeout?: number; input?: string; scope?: string },
    ...args: string[]
  ): Promise<Said> {
    const tmux = [this.program.path, "-u", "-S", this.#home.tmuxSocket, ...args];
    const [command = "", ...rest] = scope ? inScope({ unit: scope }, tmux) : tmux;
    return new Promise((resolve, reject) => {
      const options = { env: this.#env, cwd: "/", timeout };
      const child = execFile(command, rest, options, (error, _stdout, stderr) => {
        // That no client could be started says nothing about the server.
        const known = error && HoldfastError.from(error);
        if (known?.code === "no_descriptors") return reject(known);
        resolve({ ok: error === null, said: stderr.trim() || (error?.message ?? "") });
      });
      // A client that ends without reading is told by its exit.
      child.stdin?.on("error", () => {}).end(input);
    });
  }

  #file(name: string): string {
    return join(this.#home.path, name);
  }
}

/**
 * Control clients of a daemon that was killed while replies were on their way: nobody reads their pipe any more, so tmux keeps them for
 * ever, and with them itself when it is told to end.
 */
function dropOrphans(clients: readonly string[], own: number): void {
  for (const line of clients) {
    const [control, pid] = line.split(" ").map(Number);
    const info = control === 1 && pid !== undefined && pid !== own ? inspect(pid) : undefined;
    if (info) signalProcess(info.pid, info.start, "SIGKILL");
  }
}
