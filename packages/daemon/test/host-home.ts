/** The hosts under test, each with its own home and environment. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, uptime as osUptime, tmpdir } from "node:os";
import { join } from "node:path";
import { type HostName, newSessionId } from "@holdfast/contract";
import {
  type Home,
  inspect,
  isSameProcess,
  minimalEnvironment,
  openHome,
  runDirectory,
  secureSocketDirectory,
  shellQuote,
  signalProcess,
} from "@holdfast/platform";
import { expect, vi } from "vitest";
import type { Host, RunId } from "../src/host/host.ts";
import { NativeHost } from "../src/host/native/host.ts";
import { writePlace } from "../src/host/place.ts";
import { ForeignHost } from "../src/host/tmux/foreign/host.ts";
import { PanesOfOthers } from "../src/host/tmux/foreign/panes.ts";
import { ForeignTmux } from "../src/host/tmux/foreign/tmux.ts";
import { TmuxHost } from "../src/host/tmux/host.ts";
import { findTmux, TmuxServer } from "../src/host/tmux/server.ts";

export interface TestRun extends RunId {
  directory: string;
  pid: number;
}

export class HostHome implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hft-"));
  readonly #started: TestRun[] = [];
  readonly #name: HostName;
  readonly home: Home;
  host: Host;

  constructor(name: HostName) {
    this.#name = name;
    this.home = openHome({ HOLDFAST_HOME: join(this.#directory.path, "ho'me") });
    secureSocketDirectory(this.home);
    this.host = this.#newHost();
  }

  /** Replaces the host, as a daemon restart does. */
  async replaceHost(): Promise<void> {
    await this.host[Symbol.asyncDispose]();
    this.host = this.#newHost();
  }

  /** Creates the run's files, as they exist before the host starts it. */
  async prepare(script: string): Promise<RunId & { directory: string }> {
    const run = { session: newSessionId(), run: 1 };
    const directory = runDirectory(this.home, run.session, run.run);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "launch"), script);
    if (this.#name === "foreign") await this.#startElsewhere(directory);
    return { ...run, directory };
  }

  async start(script: string): Promise<TestRun> {
    const { directory, ...run } = await this.prepare(script);
    const { pid } = await this.host.start({ ...run, directory, title: "test", columns: 80, rows: 24 });
    writeFileSync(join(directory, "go"), "");
    const started = { ...run, directory, pid };
    this.#started.push(started);
    return started;
  }

  /** Starts the program in a user's own tmux that keeps ended panes. It waits for the file `go`, so that the recording has its first byte. */
  async #startElsewhere(directory: string): Promise<void> {
    const session = `user-${this.#started.length}`;
    const script = `until [ -e ${shellQuote(join(directory, "go"))} ]; do sleep 0.01; done; exec sh ${shellQuote(join(directory, "launch"))}`;
    this.#userTmux(
      "new-session",
      "-d",
      "-s",
      session,
      "-x",
      "80",
      "-y",
      "24",
      "sh",
      "-c",
      script,
      ";",
      "set-option",
      "-g",
      "remain-on-exit",
      "on",
    );
    const panes = await new PanesOfOthers(this.#foreignTmux()).at(this.#userSocket);
    const pane = panes.find((each) => each.session === session);
    const start = pane && inspect(pane.pid)?.start;
    if (!pane || !start) throw new Error("nothing runs in the user's tmux");
    const { socket, id, pid, server } = pane;
    writePlace(directory, { v: 1, process: { pid, start }, pane: { socket, id, pid, server }, pastes: false });
  }

  /** The exit of a run, once it has ended. On the foreign host only the pane reports it, if tmux keeps the pane. */
  async exited(run: TestRun): Promise<unknown> {
    if (this.#name !== "foreign") return exitFile(run);
    return vi.waitFor(
      async () => {
        const { dead, exit } = (await this.host.list()).find(({ session }) => session === run.session) ?? {};
        expect(dead).toBe(true);
        // tmux before 3.5 sometimes misses a program's end until another program ends.
        const isMissed = exit?.code === null && exit.signal === null;
        if (isMissed) this.#userTmux("run-shell", "true");
        expect(isMissed).toBe(false);
        const signal = exit?.signal ? String(constants.signals[exit.signal as NodeJS.Signals]) : "";
        return { status: exit?.code === null ? "" : String(exit?.code), signal };
      },
      { timeout: 20_000, interval: 20 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { pid } of this.#started) {
      const info = inspect(pid);
      if (info) signalProcess(pid, info.start, "SIGKILL");
    }
    for (const run of this.#started) await this.host.remove(run);
    await this.host.shutdown();
    await this.host[Symbol.asyncDispose]();
    if (this.#name === "foreign") spawnSync("tmux", ["-S", this.#userSocket, "kill-server"]);
    rmSync(this.home.socketDirectory, { recursive: true, force: true });
    this.#directory.remove();
  }

  #newHost(): Host {
    if (this.#name === "foreign") return new ForeignHost({ home: this.home, tmux: this.#foreignTmux() });
    // Bundled: a holder's Node runs without WebAssembly, which Node needs to read TypeScript.
    const holder = join(import.meta.dirname, "../../../dist/holder.mjs");
    if (!existsSync(holder)) throw new Error("the holder is not built: node script/build.mjs");
    if (this.#name === "native") return new NativeHost({ home: this.home, program: holder });
    return new TmuxHost({
      home: this.home,
      server: new TmuxServer({ home: this.home, program: this.#tmuxProgram(), detachKey: "C-\\", nextKey: "C-]", cli: ["holdfast"] }),
    });
  }

  get #userSocket(): string {
    return join(this.#directory.path, "user-tmux");
  }

  #userTmux(...words: string[]): void {
    const { status, stderr } = spawnSync("tmux", ["-u", "-S", this.#userSocket, "-f", "/dev/null", ...words], { encoding: "utf8" });
    if (status !== 0) throw new Error(`tmux ${words.join(" ")}: ${stderr}`);
  }

  #foreignTmux(): ForeignTmux {
    return new ForeignTmux({ program: this.#tmuxProgram().path, env: minimalEnvironment(this.home) });
  }

  #tmuxProgram() {
    const program = findTmux(this.home);
    if (!program) throw new Error("tmux is missing: apt-get install tmux");
    return program;
  }
}

async function exitFile({ directory }: TestRun): Promise<unknown> {
  const path = join(directory, "exit.json");
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 20_000, interval: 5 });
  const { uptime, began, pid, ...how } = JSON.parse(readFileSync(path, "utf8")) as { uptime: string; began?: string; pid?: number };
  // Every host writes seconds since boot: a run's duration must not depend on the wall clock.
  const ago = osUptime() - Number(uptime);
  // Without a reaper tmux reports only the end.
  if (began !== undefined) expect(Number(began)).toBeLessThanOrEqual(Number(uptime));
  if (began !== undefined) expect(pid).toBeGreaterThan(0);
  expect(ago > -0.1 && ago < 30, `it ended ${ago} s ago`).toBe(true);
  return how;
}

export function recorded({ directory }: TestRun): Buffer {
  const names = readdirSync(directory).filter((name) => name.startsWith("output"));
  return Buffer.concat(names.sort().map((name) => readFileSync(join(directory, name))));
}

export async function says(run: TestRun, text: string): Promise<void> {
  await vi.waitFor(() => expect(String(recorded(run))).toContain(text), { timeout: 20_000, interval: 10 });
}

/** Processes that outlived their program, by the pids it printed. */
export class LeftProcesses implements Disposable {
  readonly #left: { pid: number; start: string }[];

  constructor(pids: readonly string[]) {
    this.#left = pids.map((pid) => ({ pid: Number(pid), start: inspect(Number(pid))?.start ?? "" }));
  }

  alive(index: number): boolean {
    const { pid = 0, start = "" } = this.#left[index] ?? {};
    return start !== "" && isSameProcess(pid, start);
  }

  [Symbol.dispose](): void {
    for (const { pid, start } of this.#left) if (start !== "") signalProcess(pid, start, "SIGKILL");
  }
}
