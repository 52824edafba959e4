/**
 * Drives one agent and records its true states with their times. The truth comes from the scripted model (requests, with its own clock), from files
 * and processes (a running tool, a waiting hook) and from the recorded screen; never from Holdfast's status.
 */
import { existsSync, lstatSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Message, Session } from "@holdfast/contract";
import type { Asked } from "../../agents/src/model/server.ts";
import { eventually } from "../home.ts";
import { type AgentName, setUp, type Unusual } from "../real/agents.ts";
import type { RealWorld } from "../real/world.ts";
import { Terminal } from "../terminal.ts";
import type { Claim, Judged, Truth } from "./judge.ts";
import type { Mode } from "./modes.ts";
import { type Picture, Seen } from "./seen.ts";
import { asks, isReady, shows } from "./words.ts";

const PATIENCE_MS = 45_000;
const EVERY_MS = 25;
/** An agent that shows its composer this long without a request to its model is idle. */
const REST_MS = 1500;
/** Gemini takes an Enter that comes too soon as part of the paste. */
const AFTER_PASTE_MS = 500;
/** Agents read a key that comes sooner after an Esc as Alt plus that key. */
const ESCAPE_MS = 700;
/** How long a truth must hold, to check that its claim stays. */
export const HOLD_MS = 2500;
/** A later delivery to a ready agent counts as late; after DELIVERED_MS it counts as missing. */
const HELD_MS = 3000;
const DELIVERED_MS = 15_000;
/** The size of a session without attachments; attached terminals use its rows. */
const USUAL = { columns: 120, rows: 40 };

/** A tool that runs until its `go` file exists; its `begun` file shows when it started. */
const HOLD = 'touch "begun-$1"\nwhile [ ! -e "go-$1" ]; do sleep 0.05; done\n';

export interface Cell {
  agent: AgentName;
  host: "tmux" | "native";
  mode: Mode;
  columns: number;
}

export class Drive implements AsyncDisposable {
  readonly world: RealWorld;
  readonly cell: Cell;
  readonly truths: Truth[] = [];
  /** True while a process of the agent runs in the background. */
  readonly background: Truth[] = [];
  /** Verdicts that need no later comparison. */
  readonly checks: Judged[] = [];
  readonly session: Session;
  readonly seen: Seen;
  readonly #terminal: Terminal | undefined;
  readonly #run: string;
  state = "idle";
  #count = 0;

  private constructor(options: { world: RealWorld; cell: Cell; session: Session; terminal: Terminal | undefined }) {
    this.world = options.world;
    this.cell = options.cell;
    this.session = options.session;
    this.#terminal = options.terminal;
    this.#run = path.join(this.world.home.path, "sessions", this.session.id, "runs", "1");
    this.seen = new Seen(this.#run, USUAL);
  }

  static async start(world: RealWorld, cell: Cell, options: { name: string; unusual?: Unusual; args?: string[] }): Promise<Drive> {
    const { agent, host, mode, columns } = cell;
    const home = path.join(world.home.root, `home-${options.name}`);
    const project = path.join(world.home.root, options.name, "project");
    const { env } = setUp(agent, { home, project, url: world.model.url }, options.unusual);
    mode.configure?.[agent]?.(home);
    writeFileSync(path.join(project, "hold.sh"), HOLD);
    const args = [...(mode.args?.[agent] ?? []), ...(options.args ?? [])];
    const words = ["spawn", agent, "--name", options.name, "--host", host, ...(args.length > 0 ? ["--", ...args] : [])];
    const session = await world.home.json<Session>(words, { cwd: project, env: { ...env, ...mode.env } });
    const terminal = columns === USUAL.columns ? undefined : attached(world, options.name, columns);
    const drive = new Drive({ world, cell, session, terminal });
    if (terminal) {
      await eventually(async () => (await world.screen(options.name)).columns === columns, PATIENCE_MS, EVERY_MS);
      const { rows } = await world.screen(options.name);
      drive.seen.resize({ columns, rows });
    }
    return drive;
  }

  get agent(): AgentName {
    return this.cell.agent;
  }

  is(what: string, at: number): void {
    this.truths.push({ at, is: what, state: this.state });
  }

  /** Ends the current truth now. */
  ends(): number {
    const at = Date.now();
    const last = this.truths.at(-1);
    if (last) last.until ??= at;
    return at;
  }

  inBackground(runs: boolean, at: number): void {
    this.background.push({ at, is: String(runs), state: this.state });
  }

  /** Text that no other prompt of this run contains. */
  next(): string {
    this.#count++;
    return `n${this.#count}x${this.session.id.slice(-4)}`;
  }

  async type(text: string): Promise<void> {
    const isThere = () => shows(this.seen.last, text.slice(0, 30)) || /\[Pasted/.test(this.seen.last.lines.join("\n"));
    // An agent that has just drawn its composer may not read input yet.
    for (let pastes = 0; pastes < 3 && !isThere(); pastes++) {
      await this.world.home.ok(["send", this.session.name, "--no-enter", "--", text]);
      await eventually(isThere, 8000, EVERY_MS).catch(() => {});
    }
    if (!isThere()) throw new Error(`what was typed never showed:\n${this.screen()}`);
  }

  /** Types a prompt, submits it, and waits for the model's first request for it. */
  async prompt(text: string): Promise<Asked> {
    const before = await this.world.model.asked();
    await this.type(text);
    await sleep(AFTER_PASTE_MS);
    const asked = async () => (await this.requests(text, before.length))[0];
    this.ends();
    for (let presses = 0; presses < 3; presses++) {
      await this.keys("Enter");
      const request = await eventually(asked, 8000, EVERY_MS).catch(() => undefined);
      if (request) return request;
    }
    throw new Error(`the model never got ${JSON.stringify(text)}:\n${this.screen()}`);
  }

  /** Sends a prompt that keeps the agent working until the test ends the turn. */
  async works(text: string): Promise<Asked> {
    const request = await this.prompt(text);
    this.is("working", request.at);
    return request;
  }

  async requests(text: string, after = 0): Promise<Asked[]> {
    return (await this.world.model.asked()).slice(after).filter(({ prompt, tools }) => prompt.includes(text) && tools.length > 0);
  }

  async keys(...keys: string[]): Promise<void> {
    await this.world.home.ok(["keys", this.session.name, ...keys]);
  }

  /** Returns the time of the interrupt. */
  async interrupts(): Promise<number> {
    const at = this.ends();
    await this.keys("Escape");
    if (this.agent === "opencode") await this.#interruptsHard();
    if (this.#leavesInsertMode()) {
      // The first Esc only left the composer's insert mode.
      await sleep(ESCAPE_MS);
      const again = Date.now();
      await this.keys("Escape");
      await sleep(ESCAPE_MS);
      await this.keys("i");
      return again;
    }
    return at;
  }

  /** opencode needs a second Esc, and drops keys while it is busy. */
  async #interruptsHard(): Promise<void> {
    const isOver = async () => (await this.world.model.asked()).every(({ state }) => state !== "open");
    for (let presses = 0; presses < 5; presses++) {
      await this.keys("Escape");
      if (await eventually(isOver, 3000, EVERY_MS).catch(() => false)) return;
    }
  }

  #leavesInsertMode(): boolean {
    return this.cell.mode.name === "vim" && this.agent !== "qwen";
  }

  screen(): string {
    return this.seen.last.lines.join("\n").trimEnd();
  }

  /** Waits until the screen matches; returns since when it did, not before `from`. */
  async sees(what: string, is: (picture: Picture) => boolean, from = 0): Promise<number> {
    try {
      return await eventually(() => this.seen.first(is, from), PATIENCE_MS, EVERY_MS);
    } catch {
      throw new Error(`never saw ${what}:\n${this.screen()}`);
    }
  }

  /** Waits for a permission request: on the screen, or by a hook that waits for the inbox. */
  async asks(what: string, is: (picture: Picture) => boolean, from: number): Promise<{ at: number; byHook: boolean }> {
    const found = () => {
      const shown = this.seen.first(is, from);
      const hook = this.#hookWaits(from);
      const first = Math.min(shown ?? Number.POSITIVE_INFINITY, hook ?? Number.POSITIVE_INFINITY);
      return Number.isFinite(first) && { at: first, byHook: shown === undefined };
    };
    const { at } = await eventually(found, PATIENCE_MS, EVERY_MS).catch(() => {
      throw new Error(`${what} was never asked:\n${this.screen()}`);
    });
    // A dialog may appear a little after its hook.
    await sleep(HOLD_MS);
    return { at, byHook: this.seen.first(is, from) === undefined };
  }

  /** Returns since when one of the agent's hooks has waited for an answer. */
  #hookWaits(from: number): number | undefined {
    const answers = path.join(this.#run, "answers");
    if (!existsSync(answers)) return undefined;
    const times = readdirSync(answers).flatMap((name) => {
      const stat = name.endsWith(".ask") ? lstatSync(path.join(answers, name), { throwIfNoEntry: false }) : undefined;
      return stat && stat.birthtimeMs >= from - 2000 ? [stat.birthtimeMs] : [];
    });
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Waits until the agent is idle; returns since when, not before `from`. */
  async rests(from: number): Promise<number> {
    const rest = async () => {
      const requests = (await this.world.model.asked()).filter(isOfTurn);
      const open = requests.some(({ state }) => state === "open");
      const shown = this.seen.since((picture) => isReady(this.agent, picture));
      if (open || shown === undefined || this.#hookWaits(Date.now() - 3_600_000) !== undefined) return undefined;
      const since = Math.max(from, shown, ...requests.map(({ endedAt }) => endedAt ?? 0));
      return Date.now() - since > REST_MS && since;
    };
    return await eventually(rest, PATIENCE_MS, EVERY_MS).catch(() => {
      throw new Error(`never came to rest:\n${this.screen()}`);
    });
  }

  /** Waits for the end of the turn and records it as idle. */
  async becomesIdle(from: number): Promise<void> {
    this.is("idle", await this.rests(from));
    await sleep(HOLD_MS);
  }

  /** Waits for the tool that runs `sh hold.sh NAME`; returns when it started. */
  async begins(name: string): Promise<number> {
    const file = path.join(this.session.cwd, `begun-${name}`);
    try {
      return await eventually(() => statSync(file, { throwIfNoEntry: false })?.mtimeMs, PATIENCE_MS, EVERY_MS);
    } catch {
      throw new Error(`sh hold.sh ${name} never began:\n${this.screen()}`);
    }
  }

  /** Ends the tool; returns the time. */
  letsGo(name: string): number {
    writeFileSync(path.join(this.session.cwd, `go-${name}`), "");
    return Date.now();
  }

  /** Allows the open request on the channel that the agent uses. */
  async allows({ byHook }: { byHook: boolean }): Promise<void> {
    this.ends();
    if (byHook) return void (await this.world.home.ok(["approvals", "allow", this.session.name]));
    const began = Date.now();
    // Claude ignores keys in the first moments of a dialog.
    for (let presses = 0; presses < 3; presses++) {
      await this.keys("Enter");
      const went = () => this.seen.first((picture) => !asks(this.agent, picture), began);
      if (await eventually(went, 3000, EVERY_MS).catch(() => undefined)) return;
    }
  }

  /** Sends a message as a user does; checks that it arrives once and what its receipt says. */
  async delivers(text: string): Promise<void> {
    const sentAt = this.ends();
    const { id } = await this.world.home.json<Message>(["send", this.session.name, "--no-wait", "--", text]);
    const requests = async () => (await this.requests(text)).filter(({ results }) => results.length === 0);
    const request = await eventually(async () => (await requests())[0], DELIVERED_MS, EVERY_MS).catch(() => undefined);
    let message: Message | undefined;
    const read = async () => {
      message = (await this.world.home.json<Message[]>(["messages", this.session.name])).find((each) => each.id === id);
      return message?.endedAt !== null;
    };
    await eventually(read, DELIVERED_MS, 250).catch(() => {});
    const times = (await requests()).length;
    const latencyMs = request ? Math.max(0, request.at - sentAt) : null;
    const said = `${message?.state}, ${times} times at the model, ${latencyMs} ms`;
    const isTold = message?.state === "replied";
    const verdict = times !== 1 ? "wrong" : !isTold ? "unknown" : (latencyMs ?? 0) > HELD_MS ? "late" : "right";
    this.checks.push({ at: sentAt, is: "delivered", state: this.state, verdict, latencyMs, said });
  }

  /** Holdfast's claims, from its own journal. */
  async claims(): Promise<{ status: Claim[]; background: Claim[] }> {
    const lines = (await this.world.home.ok(["events", "--json", "--type", "session.status_changed"])).trim().split("\n").filter(Boolean);
    const events = lines
      .map((line) => JSON.parse(line) as StatusChanged)
      .filter(({ session }) => session === this.session.id)
      .map(({ at, data }) => ({ at: Date.parse(at), ...data }));
    const status = events.map(({ at, status: is, attention }) => ({
      at,
      says: is === "unknown" ? null : attention ? `${is} for ${attention.for}` : is,
    }));
    const background = events.map(({ at, background: runs }) => ({ at, says: runs === null ? null : String(runs) }));
    return { status: [{ at: Date.parse(this.session.createdAt), says: "starting" }, ...status], background };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.seen[Symbol.dispose]();
    this.#terminal?.[Symbol.dispose]();
    await this.world.home.cli(["stop", this.session.name, "--grace", "1s"]);
  }
}

/** Requests for titles have no tools. Qwen searches its memory and guesses the next prompt after a turn, while its composer is ready. */
function isOfTurn({ tools, prompt }: Asked): boolean {
  return tools.length > 0 && prompt.trim() !== "." && !prompt.includes("Existing memory files");
}

interface StatusChanged {
  at: string;
  session: string;
  data: { status: string; attention: { for: string } | null; background: boolean | null };
}

/** The bottom row belongs to Holdfast. */
function attached(world: RealWorld, name: string, columns: number): Terminal {
  const terminal = new Terminal({ env: world.home.env, columns, rows: USUAL.rows + 1 });
  terminal.line(`exec ${path.resolve(import.meta.dirname, "../../bin/holdfast")} attach ${name}`);
  return terminal;
}
