/**
 * Our private tmux server: found, given its socket back, or started, in that order. A second server would hide the live panes of the first, so one
 * is started only when the recorded server (pid and start time) is certainly gone.
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

/** A server that is silent for this long is assumed to have lost its socket. */
const ANSWER_MS = 10_000;
/** A server that has not begun to end after this time never received the command. */
const HEARD_MS = 1000;
/** Longest time for a live server to answer on its new socket. A starting daemon waits for it. */
const SOCKET_MS = 3000;

export const TMUX_HINT = "install it (Debian: apt-get install tmux; macOS: brew install tmux)";

export function findTmux(home: Home): TmuxProgram | undefined {
  const extra = process.env.HOME ? `:${process.env.HOME}/.nix-profile/bin:${process.env.HOME}/.local/bin` : "";
  const path = findProgram("tmux", STANDARD_PATH + extra, "/");
  if (!path) return undefined;
  const reply = spawnSync(path, ["-V"], { encoding: "utf8", env: minimalEnvironment(home) });
  return { path, version: reply.stdout?.trim().replace(/^tmux /, "") ?? "unknown" };
}

/** Compares the numbers of a version such as `3.3a` or `next-3.6`. */
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
  /** Path of perl, if panes can have a reaper. */
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

  /** A control client of the running server; undefined if certainly none runs. */
  async find(listener: ControlListener): Promise<ControlClient | undefined> {
    secureSocketDirectory(this.#home);
    if (!(await this.#answers())) {
      const silent = this.#recorded() ?? this.#unrecorded();
      if (!silent) return undefined;
      // The server ended during the search.
      if (!(await this.bringBackSocket(silent))) return undefined;
    }
    await this.#configure();
    return this.#connect(listener);
  }

  /** Like `find`, but starts a missing server. */
  async open(listener: ControlListener): Promise<ControlClient> {
    const found = await this.find(listener);
    if (found) return found;
    // A server reads its configuration once, so rewrite the file in case it was changed since this daemon started.
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

  /** Call before using the socket's path: without a socket, `tmux attach` starts a second server. */
  async ensureSocket(): Promise<void> {
    if (!existsSync(this.#home.tmuxSocket)) await this.bringBackSocket();
  }

  /** A tmux server recreates its socket on SIGUSR1. Starting a second server instead would hide the live one. */
  async bringBackSocket(known = this.#pid): Promise<boolean> {
    secureSocketDirectory(this.#home);
    if (!known || !signalProcess(known.pid, known.start, "SIGUSR1")) return false;
    const deadline = performance.now() + SOCKET_MS;
    while (performance.now() < deadline) {
      // A server being killed closes its sockets shortly before it is gone.
      if (!isSameProcess(known.pid, known.start)) return false;
      if (await this.#answers(SOCKET_MS)) return true;
      await delay(20);
    }
    throw this.#silent(known.pid) ?? this.#withoutSocket(known.pid);
  }

  /** The known cause of the error, or the error itself. */
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

  /** Waits until the server has ended. Sends SIGTERM if the server did not receive the command. */
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
        // Not ignore-size: if every client on the server has that flag, tmux counts a reader's size. A control client that never sets a size
        // resizes nothing.
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
      // A server without a file is found by its socket.
      if (!unwritable(error)) throw error;
    }
  }

  /** Starts the server if there is none; `-f` keeps it from reading the user's own configuration. */
  #openAnchor(): Promise<Said> {
    const size = ["-x", "80", "-y", "24"];
    const anchor = ["-f", this.#file("tmux.conf"), "new-session", "-d", "-s", ANCHOR, ...size, "/bin/sh", "-c", ":"];
    return this.#tmuxWith({ scope: `holdfast-tmux-${randomUUID()}` }, ...anchor);
  }

  /**
   * Updates the configuration of a server started by an older Holdfast. The control client is unsuitable, because it gets a reply for every line.
   * So is the file's path, because tmux treats `[` and `*` in it as a pattern.
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
   * A server of this home without a file, because the last daemon was killed before writing it. Found by the socket in its arguments: the user's
   * own tmux may have our HOLDFAST_HOME in its environment.
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
        // A client that failed to start says nothing about the server.
        const known = error && HoldfastError.from(error);
        if (known?.code === "no_descriptors") return reject(known);
        resolve({ ok: error === null, said: stderr.trim() || (error?.message ?? "") });
      });
      // A client that ends without reading is reported by its exit.
      child.stdin?.on("error", () => {}).end(input);
    });
  }

  #file(name: string): string {
    return join(this.#home.path, name);
  }
}

/**
 * Kills control clients of a daemon that was killed with replies in transit. Nobody reads their pipe, so tmux keeps them forever and cannot end
 * itself when told to.
 */
function dropOrphans(clients: readonly string[], own: number): void {
  for (const line of clients) {
    const [control, pid] = line.split(" ").map(Number);
    const info = control === 1 && pid !== undefined && pid !== own ? inspect(pid) : undefined;
    if (info) signalProcess(info.pid, info.start, "SIGKILL");
  }
}
