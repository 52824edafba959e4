/** A throw-away home with the product as an installed package: a copy, so that a build in the checkout does not change it during a run. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { OwnHost, Session } from "@holdfast/contract";
import { allProcesses, openHome, runDirectory } from "@holdfast/platform";
import type { HoldfastClient } from "@holdfast/sdk";
import { type CliOptions, eventually, ROOT, TestHome } from "../../tests/home.ts";
import { opened } from "./left-over.ts";

export class BenchHome extends TestHome {
  readonly program = installed();
  readonly #closed = opened(this);

  constructor(below?: string) {
    super("home", below);
    this.env.PATH = `${path.dirname(process.execPath)}:${this.env.PATH}`;
  }

  override start(args: readonly string[], options: CliOptions = {}): ChildProcessWithoutNullStreams {
    const child = spawn(this.program, args, { cwd: options.cwd ?? this.root, env: { ...this.env, ...options.env }, stdio: "pipe" });
    child.stdin.end(options.input ?? "");
    return child;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.#closed();
    await super[Symbol.asyncDispose]();
  }

  /** As the SDK does: sequential requests on one connection. */
  async spawnMany(
    client: HoldfastClient,
    count: number,
    command: string[],
    how: { host?: OwnHost; agent?: string } = {},
  ): Promise<Session[]> {
    const sessions: Session[] = [];
    while (sessions.length < count) sessions.push(await client.call("spawn", { body: { ...spawnBody(this.env, command), ...how } }));
    return sessions;
  }

  runDirectory(session: Session): string {
    return runDirectory(openHome(this.env), session.id, 1);
  }

  /** The pids of Holdfast's own processes, by part. */
  async parts(sessions: readonly Session[]): Promise<Record<"daemon" | "client" | "server" | "recorders", number[]>> {
    const { pid, tmux } = await this.json<{ pid: number; tmux: { pid: number } }>(["status"]);
    const children = [...allProcesses().values()].filter((info) => info.parent === pid && !info.zombie);
    return {
      daemon: [pid],
      client: children.map((info) => info.pid),
      server: [tmux.pid],
      recorders: await Promise.all(sessions.map((session) => recorderOf(this.runDirectory(session)))),
    };
  }
}

/** Replaces an agent and accepts all its arguments. */
export const SLEEPER = ["sh", "-c", "exec sleep 1000000", "agent"];

/** A recorder reports its pid a moment after its program starts. */
export function recorderOf(directory: string): Promise<number> {
  const file = path.join(directory, "recorder");
  return eventually(() => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0) || undefined);
}

/** An environment of typical size. */
export function usualEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const { HOLDFAST_HOME: _home, ...rest } = env;
  return {
    ...rest,
    ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`VARIABLE_${i}`, `the value of variable ${i}, as long as many are`])),
  };
}

function spawnBody(env: Readonly<Record<string, string>>, command: string[]) {
  return { agent: "shell", cwd: "/", env: usualEnvironment(env), command };
}

let copy: string | undefined;

function installed(): string {
  if (copy === undefined) {
    const directory = mkdtempSync(path.join(tmpdir(), "hfb-"));
    for (const name of ["bin", "dist"]) cpSync(path.join(ROOT, name), path.join(directory, name), { recursive: true });
    symlinkSync(path.join(ROOT, "node_modules"), path.join(directory, "node_modules"));
    process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
    copy = path.join(directory, "bin", "holdfast");
  }
  return copy;
}
