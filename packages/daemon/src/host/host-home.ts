/** For tests of hosts: a home of the test's own with one host on it, and runs that are shell scripts. */
import { existsSync, mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HostName, newSessionId } from "@holdfast/contract";
import { type Home, openHome, runDirectory, secureSocketDirectory, signalProcess } from "@holdfast/platform";
import { inspect } from "@holdfast/platform/process";
import { expect, vi } from "vitest";
import type { Host, RunId } from "./host.ts";
import { NativeHost } from "./native/host.ts";
import { TmuxHost } from "./tmux/host.ts";
import { findTmux, TmuxServer } from "./tmux/server.ts";

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

  /** As the next daemon has it. */
  async replaceHost(): Promise<void> {
    await this.host[Symbol.asyncDispose]();
    this.host = this.#newHost();
  }

  async start(script: string): Promise<TestRun> {
    const run = { session: newSessionId(), run: 1 };
    const directory = runDirectory(this.home, run.session, run.run);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "launch"), script);
    const { pid } = await this.host.start({ ...run, directory, title: "test", columns: 80, rows: 24 });
    const started = { ...run, directory, pid };
    this.#started.push(started);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { pid } of this.#started) {
      const info = inspect(pid);
      if (info) signalProcess(pid, info.start, "SIGKILL");
    }
    for (const run of this.#started) await this.host.remove(run);
    await this.host.shutdown();
    await this.host[Symbol.asyncDispose]();
    rmSync(this.home.socketDirectory, { recursive: true, force: true });
    this.#directory.remove();
  }

  #newHost(): Host {
    // Bundled: a holder's Node runs without WebAssembly, which reading TypeScript needs.
    const holder = join(import.meta.dirname, "../../../../dist/holder.mjs");
    if (!existsSync(holder)) throw new Error("the holder is not built: node script/build.mjs");
    if (this.#name === "native") return new NativeHost({ home: this.home, program: holder });
    const program = findTmux(this.home);
    if (!program) throw new Error("tmux is missing: apt-get install tmux");
    return new TmuxHost({ home: this.home, server: new TmuxServer({ home: this.home, program, detachKey: "C-\\" }) });
  }
}

export async function exited({ directory }: TestRun): Promise<unknown> {
  const path = join(directory, "exit.json");
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 20_000, interval: 5 });
  return JSON.parse(readFileSync(path, "utf8"));
}

export function recorded({ directory }: TestRun): Buffer {
  const names = readdirSync(directory).filter((name) => name.startsWith("output"));
  return Buffer.concat(names.sort().map((name) => readFileSync(join(directory, name))));
}

export async function says(run: TestRun, text: string): Promise<void> {
  await vi.waitFor(() => expect(String(recorded(run))).toContain(text), { timeout: 20_000, interval: 10 });
}
