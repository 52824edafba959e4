/**
 * The real state and its invariants: a home with real daemons, tmux servers, holders and programs. Each program prints `ready`, then `got LINE` for
 * every line that it is sent, so that a recording shows which lines arrived, how often and in which order.
 */
import { closeSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type AnyEvent, HoldfastError, type OwnHost, type Session } from "@holdfast/contract";
import { allProcesses, environmentValues, inspect, openHome, signalProcess } from "@holdfast/platform";
import type { HoldfastClient } from "@holdfast/sdk";
import { eventually, TestHome } from "../home.ts";
import type { Expected, Known } from "./expected.ts";

const PROGRAM = ["/bin/sh", "-c", "stty -echo; echo ready; while read -r line; do echo got $line; done"];

/** After a fault, the list must be true again within this time. Test machines are busy. */
const SETTLED_MS = 20_000;

export class World implements AsyncDisposable {
  readonly home = new TestHome();
  readonly program = PROGRAM;
  #client: HoldfastClient | undefined;

  /** The client of the running daemon; starts a daemon if there is none, as every command does. */
  async client(): Promise<HoldfastClient> {
    if (this.#client) {
      try {
        await this.#client.call("status", {});
        return this.#client;
      } catch {
        this.#client[Symbol.dispose]();
      }
    }
    await this.home.ok(["up"]);
    this.#client = this.home.client();
    return this.#client;
  }

  async spawn(name: string, host: OwnHost): Promise<Session> {
    const client = await this.client();
    return client.call("spawn", { body: { agent: "shell", name, host, cwd: "/", env: this.home.env, command: PROGRAM } });
  }

  async ready(known: Known): Promise<void> {
    await eventually(() => this.said(known).includes("ready"), SETTLED_MS);
  }

  async list(): Promise<Session[]> {
    return (await (await this.client()).call("listSessions", { query: { all: true } })).sessions;
  }

  async session(known: Known): Promise<Session> {
    return (await this.client()).call("getSession", { params: { ref: known.id } });
  }

  /** The lines of a run's recording, over all segments. */
  said(known: Known): string[] {
    const directory = join(openHome(this.home.env).sessions, known.id, "runs", "1");
    return readRecording(directory).split("\r\n").slice(0, -1);
  }

  kill(pid: number): void {
    const info = inspect(pid);
    if (info) signalProcess(pid, info.start, "SIGKILL");
  }

  async daemonPid(): Promise<number> {
    return (await (await this.client()).call("status", {})).pid;
  }

  async tmuxPid(): Promise<number | undefined> {
    return (await (await this.client()).call("status", {})).tmux?.pid ?? undefined;
  }

  async events(): Promise<AnyEvent[]> {
    const client = await this.client();
    const events: AnyEvent[] = [];
    for (;;) {
      const after = events.at(-1);
      const page = await client.call("listEvents", { query: { limit: 1000, ...(after ? { after: `${after.epoch}:${after.seq}` } : {}) } });
      events.push(...page.events);
      if (!page.more) return events;
    }
  }

  damageDatabase(way: string, at: number): void {
    const { database } = openHome(this.home.env);
    const { size } = statSync(database);
    if (way === "gone") rmSync(database);
    else if (way === "cut off") truncateSync(database, Math.floor(size * at));
    else {
      const file = openSync(database, "r+");
      writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, Math.floor((size - 1) * at));
      closeSync(file);
    }
  }

  /** Checks everything that must hold after each step. */
  async check(expected: Expected): Promise<void> {
    await eventually(async () => (await this.#differences(expected)).length === 0, SETTLED_MS).catch(async () => {
      throw new Error(`what is there is not what must be:\n  ${(await this.#differences(expected)).join("\n  ")}`);
    });
  }

  async #differences(expected: Expected): Promise<string[]> {
    const listed = new Map((await this.list()).map((session) => [session.id, session]));
    const wrong: string[] = [];
    for (const known of expected.sessions) {
      const session = listed.get(known.id);
      listed.delete(known.id);
      if (!session) wrong.push(`${known.name} is not listed`);
      else wrong.push(...differences(known, session), ...linesWrong(known, this.said(known)));
    }
    for (const { name, status } of listed.values()) wrong.push(`${name} (${status}) is listed and nobody started it`);
    return [...wrong, ...this.#strays(expected), ...orderWrong(await this.events())];
  }

  /** Finds processes of ended runs. */
  #strays(expected: Expected): string[] {
    const pids = this.home.processes().map(({ pid }) => pid);
    const live = new Set(expected.sessions.filter(({ live }) => live).map(({ id }) => `${id}-1`));
    const strays = [...environmentValues("HOLDFAST_RUN", pids)].filter(([, marker]) => !live.has(marker));
    return strays.map(([pid, marker]) => `process ${pid} (${allProcesses().get(pid)?.name}) of ${marker} outlived it`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client?.[Symbol.dispose]();
    await this.home[Symbol.asyncDispose]();
  }
}

/** The answer to a request; undefined if it was cut off, when it may or may not have taken effect. */
export async function answered<T>(request: Promise<T>): Promise<{ reply: T } | { error: HoldfastError } | undefined> {
  try {
    return { reply: await request };
  } catch (error) {
    if (error instanceof HoldfastError && error.code !== "daemon_unreachable") return { error };
    return undefined;
  }
}

function differences(known: Known, session: Session): string[] {
  const wrong: string[] = [];
  if (session.name !== known.name) wrong.push(`${known.name} is called ${session.name}`);
  const is = `${session.status}${session.exit?.signal ? ` ${session.exit.signal}` : ""}`;
  if (!known.is.includes(session.status)) wrong.push(`${known.name} must be ${known.is.join(" or ")}, and is ${is}`);
  if (known.live && session.pid !== known.pid) wrong.push(`${known.name} had pid ${known.pid}, and has ${session.pid}`);
  if (known.live && !inspect(known.pid)) wrong.push(`the program of ${known.name} has gone`);
  return wrong;
}

/** An acknowledged line is there once and in order; any other line is there at most once, in its place. */
function linesWrong(known: Known, said: string[]): string[] {
  if (known.hasGap) return [];
  const got = said.filter((line) => line.startsWith("got ")).map((line) => line.slice(4));
  const sure = known.sent.filter(({ sure }) => sure).map(({ text }) => text);
  const possible = known.sent.map(({ text }) => text);
  const wrong: string[] = [];
  if (new Set(got).size !== got.length) wrong.push(`${known.name} got a line twice: ${got}`);
  const missing = sure.filter((text) => !got.includes(text));
  if (missing.length > 0) wrong.push(`${known.name} never got ${missing}`);
  if (got.join() !== possible.filter((text) => got.includes(text)).join()) wrong.push(`${known.name} got lines out of order: ${got}`);
  return wrong;
}

function orderWrong(events: readonly AnyEvent[]): string[] {
  const wrong: string[] = [];
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    if (before && event.seq !== before.seq + 1) wrong.push(`event ${event.seq} follows event ${before.seq}`);
  }
  if (new Set(events.map(({ id }) => id)).size !== events.length) wrong.push("two events have one id");
  return wrong;
}

function readRecording(directory: string): string {
  let text = "";
  for (let i = 0; ; i++) {
    try {
      text += readFileSync(join(directory, `output.${String(i).padStart(6, "0")}`), "utf8");
    } catch {
      return text;
    }
  }
}
