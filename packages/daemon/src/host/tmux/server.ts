/**
 * Our private tmux server: found again, brought back, or started, in that order. A second server would hide the live panes of
 * the first, so one is started only when the recorded one (pid and start time) is certainly gone.
 */
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "@holdfast/contract";
import {
  allProcesses,
  argumentsOf,
  findProgram,
  type Home,
  inspect,
  isSameProcess,
  minimalEnvironment,
  readJsonFile,
  STANDARD_PATH,
  signalProcess,
  writeFileAtomic,
} from "@holdfast/platform";
import { ANCHOR } from "./commands.ts";
import { PANE_DIED, PANE_RESIZED, tmuxConfiguration } from "./configuration.ts";
import { ControlClient } from "./control.ts";

export interface TmuxProgram {
  path: string;
  version: string;
}

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
  #pid: { pid: number; start: string } | undefined;

  constructor(options: { home: Home; program: TmuxProgram; detachKey: string }) {
    this.#home = options.home;
    this.program = options.program;
    this.#env = minimalEnvironment(options.home);
    const terminal =
      spawnSync("infocmp", ["tmux-256color"], { env: this.#env, stdio: "ignore" }).status === 0 ? "tmux-256color" : "screen-256color";
    writeFileAtomic(
      this.#file("tmux.conf"),
      tmuxConfiguration({ detachKey: options.detachKey, terminal, resizeHook: tmuxAtLeast(this.program.version, 3, 3) }),
    );
    writeFileAtomic(this.#file("pane-died"), PANE_DIED);
    writeFileAtomic(this.#file("pane-resized"), PANE_RESIZED);
  }

  get pid(): number | undefined {
    return this.#pid?.pid;
  }

  /** A control client of the server that runs, or undefined when certainly none does. */
  async find(onEnd: () => void): Promise<ControlClient | undefined> {
    if (!(await this.#answers())) {
      const silent = this.#recorded() ?? this.#unrecorded();
      if (!silent) return undefined;
      await this.bringBackSocket(silent);
    }
    return this.#connect(onEnd);
  }

  /** Like `find`, starting the server when there is none. */
  async open(onEnd: () => void): Promise<ControlClient> {
    const found = await this.find(onEnd);
    if (found) return found;
    const started = await this.#tmux(
      "-f",
      this.#file("tmux.conf"),
      "new-session",
      "-d",
      "-s",
      ANCHOR,
      "-x",
      "80",
      "-y",
      "24",
      "/bin/sh",
      "-c",
      ":",
    );
    if (!started.ok) {
      throw new HoldfastError("host_failed", `tmux did not start: ${started.said}`, {
        hint: `try it: ${this.program.path} -S ${this.#home.tmuxSocket} new-session`,
      });
    }
    return this.#connect(onEnd);
  }

  /** A tmux server makes its socket anew on SIGUSR1; starting a second server instead would hide the live one. */
  async bringBackSocket(known = this.#pid): Promise<boolean> {
    if (!known || !signalProcess(known.pid, known.start, "SIGUSR1")) return false;
    for (let attempt = 0; attempt < 100; attempt++) {
      if (await this.#answers()) return true;
      await delay(20);
    }
    throw new HoldfastError(
      "host_failed",
      `the tmux server (pid ${known.pid}) runs but its socket ${this.#home.tmuxSocket} does not come back`,
      {
        hint: "its sessions are alive; check that the directory of the socket is yours and writable",
      },
    );
  }

  async #connect(onEnd: () => void): Promise<ControlClient> {
    if (!(await this.#tmux("has-session", "-t", `=${ANCHOR}`)).ok) {
      await this.#tmux("new-session", "-d", "-s", ANCHOR, "-x", "80", "-y", "24", "/bin/sh", "-c", ":");
    }
    const client = new ControlClient({
      command: [
        this.program.path,
        "-u",
        "-S",
        this.#home.tmuxSocket,
        "-C",
        "attach-session",
        "-f",
        "no-output,ignore-size",
        "-t",
        `=${ANCHOR}`,
      ],
      env: this.#env,
      onEnd,
    });
    // The pane's command is long gone; sourcing the configuration brings a server started by an older Holdfast up to date.
    const [, reply] = await client.run('source-file "$HOLDFAST_HOME/tmux.conf"', "display-message -p '#{pid}'");
    const pid = Number(reply?.[0]);
    const info = inspect(pid);
    if (info) {
      this.#pid = { pid, start: info.start };
      writeFileAtomic(this.#home.tmuxFile, `${JSON.stringify(this.#pid)}\n`);
    }
    return client;
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

  async #answers(): Promise<boolean> {
    return (await this.#tmux("list-sessions")).ok;
  }

  #tmux(...args: string[]): Promise<{ ok: boolean; said: string }> {
    return new Promise((resolve) => {
      const options = { env: this.#env, cwd: "/", timeout: 10_000 };
      execFile(this.program.path, ["-u", "-S", this.#home.tmuxSocket, ...args], options, (error, _stdout, stderr) => {
        resolve({ ok: error === null, said: stderr.trim() || (error?.message ?? "") });
      });
    });
  }

  #file(name: string): string {
    return join(this.#home.path, name);
  }
}
