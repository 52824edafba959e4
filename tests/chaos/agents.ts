/**
 * Messages to real agents while people press Esc, leave drafts and answer permission requests, and while the daemon is killed. The scripted model
 * knows the truth: which prompts reached it, when, and its answers. Holdfast's receipt of each message is compared with that truth.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Approval, type HOSTS, type Message, newSessionId } from "@holdfast/contract";
import { openHome } from "@holdfast/platform";
import type { HoldfastClient } from "@holdfast/sdk";
import type { Asked } from "../../agents/src/model/server.ts";
import { eventually } from "../home.ts";
import type { AgentName } from "../real/agents.ts";
import { becomes, interrupt } from "../real/watching.ts";
import { RealWorld } from "../real/world.ts";

export interface Plan {
  messages: number;
  agents: readonly AgentName[];
  hosts: readonly (typeof HOSTS)[number][];
  /** Returns a new random number from 0 to below 1. */
  random(): number;
  /** The shortest and longest time between two kills of the daemon. */
  killMs: readonly [least: number, most: number];
  onProgress?(ended: number, kills: number): void;
}

/** `interrupted` lasts until Esc ends it. `asks` needs an approval. `draft` meets a person's draft in the composer. */
const KINDS = ["plain", "long", "interrupted", "asks", "draft"] as const;
export type Kind = (typeof KINDS)[number];

export interface Sent {
  id: string;
  lane: string;
  kind: Kind;
  text: string;
  /** When a person last kept the agent from taking a message, by a draft or an open approval. Unix milliseconds; 0 means never. */
  freeAt: number;
  /** A person pressed Esc during its turn or at its permission request. */
  escaped: boolean;
}

export interface Outcome {
  messages: number;
  kills: number;
  kinds: Record<string, number>;
  states: Record<string, number>;
  /** Messages that the agent took, without evidence of the outcome. */
  unknown: string[];
  /** Handed over more than HELD_MS after the agent was ready. */
  held: string[];
  wrong: string[];
}

/** A message must not wait longer than this for a ready agent. */
export const HELD_MS = 2000;

const STUCK_MS = 120_000;
/** An Esc that the agent took has ended the request by then. */
const TAKES_MS = 5000;
const DRAFT = "words that nobody sent";

export async function disturb(plan: Plan): Promise<Outcome> {
  await using world = await RealWorld.open();
  return await new Disturbed(world, plan).play();
}

class Disturbed {
  readonly #world: RealWorld;
  readonly #plan: Plan;
  readonly #sent: Sent[] = [];
  /** The downtime of each kill: until a daemon answered again. */
  readonly #downs: { from: number; to: number }[] = [];
  #ended = 0;
  #done = false;

  constructor(world: RealWorld, plan: Plan) {
    this.#world = world;
    this.#plan = plan;
  }

  async play(): Promise<Outcome> {
    const { agents, hosts } = this.#plan;
    const lanes = hosts.flatMap((host) => agents.map((agent) => ({ agent, host, name: `${agent}-${host}` })));
    for (const { agent, host, name } of lanes) {
      await this.#world.spawn(agent, name, ["--host", host]);
      await becomes(this.#world, name, "idle");
    }
    const killing = this.#kill();
    try {
      const counts = lanes.map((_, i) => Math.ceil((this.#plan.messages - i) / lanes.length));
      await Promise.all(lanes.map((lane, i) => this.#drive(lane, counts[i] ?? 0)));
    } finally {
      this.#done = true;
      await killing;
    }
    return this.#judge();
  }

  async #drive({ agent, name }: { agent: AgentName; name: string }, count: number): Promise<void> {
    const { random } = this.#plan;
    for (let i = 0; i < count; i++) {
      const kind = KINDS[Math.floor(random() * KINDS.length)] ?? "plain";
      if (kind === "draft") await this.#draft(name);
      const sent = await this.#send(name, kind);
      if (kind === "draft") await this.#clear(sent);
      if (kind === "interrupted") await this.#interrupt(sent, agent);
      if (kind === "asks") await this.#answer(sent, agent);
      // Sometimes several messages wait at once; the person's action is for one of them.
      const follows = random() < 0.3 && i + 1 < count;
      if (follows) {
        i++;
        await this.#send(name, "plain");
      }
      await this.#end(name);
    }
  }

  async #send(lane: string, kind: Kind): Promise<Sent> {
    const id = newSessionId();
    const text = {
      plain: `say ${id}`,
      long: `say ${id}; talk 1500ms`,
      interrupted: `say ${id}; talk 100s`,
      asks: `tool shell touch ${id}; say ${id}`,
      draft: `say ${id}`,
    }[kind];
    const sent: Sent = { id, lane, kind, text, freeAt: 0, escaped: false };
    this.#sent.push(sent);
    await this.#insist((client) => client.call("sendMessage", { params: { ref: lane }, body: { id, text } }));
    return sent;
  }

  /** A person starts to write and stops. */
  async #draft(lane: string): Promise<void> {
    await this.#command(["send", lane, "--no-enter", DRAFT]);
    await this.#shows(lane, DRAFT);
  }

  async #clear(sent: Sent): Promise<void> {
    await sleep(200 + this.#plan.random() * 1500);
    await this.#command(["keys", sent.lane, "C-u"]);
    await eventually(async () => !(await this.#screen(sent.lane)).includes(DRAFT), STUCK_MS, 100);
    sent.freeAt = Date.now();
  }

  async #interrupt(sent: Sent, agent: AgentName): Promise<void> {
    await eventually(async () => (await this.#asked(sent.id)).some(({ state }) => state === "open"), STUCK_MS, 100);
    // Wait until a person could see the answer that Esc interrupts.
    await eventually(async () => new RegExp(`^\\W*${sent.id} \\w+`, "m").test(await this.#screen(sent.lane)), STUCK_MS, 100);
    sent.escaped = true;
    const isOver = async () => (await this.#asked(sent.id)).every(({ state }) => state !== "open");
    // Press again while the turn continues, as a person does: a busy agent may drop a key.
    for (let presses = 0; presses < 10 && !(await isOver()); presses++) {
      await this.#insistOn(() => interrupt(this.#world, agent, sent.lane));
      await eventually(isOver, TAKES_MS, 100).catch(() => {});
    }
    await eventually(isOver, STUCK_MS, 100);
  }

  async #answer(sent: Sent, agent: AgentName): Promise<void> {
    const open = async () => {
      const { approvals } = await this.#insist((client) => client.call("listApprovals", {}));
      return approvals.find(({ name, text, input }: Approval) => name === sent.lane && `${text}${JSON.stringify(input)}`.includes(sent.id));
    };
    const asked = await eventually(open, STUCK_MS, 100);
    await sleep(this.#plan.random() * 1000);
    const decision = this.#plan.random() < 0.5 ? "allow" : "deny";
    if (agent !== "gemini" && this.#plan.random() < 0.3) {
      // Some agents ask on their screen only after a while; those get their answer from the inbox.
      const shown = (await this.#screen(sent.lane)).includes(`touch ${sent.id}`) && asked.channel === "screen";
      if (shown) {
        sent.escaped = true;
        await this.#command(["keys", sent.lane, "Escape"]);
      }
    }
    if (!sent.escaped) {
      if (decision === "deny") sent.escaped = asked.channel === "screen";
      await this.#insistOn(async () => {
        const { code, stderr } = await this.#world.home.cli(["approvals", decision, asked.id]);
        if (code !== 0 && (await open())?.id === asked.id) throw new Error(`daemon: ${stderr}`);
      });
    }
    sent.freeAt = Date.now();
  }

  /** Waits until every message of the lane has ended or settled. */
  async #end(lane: string): Promise<void> {
    const mine = this.#sent.filter((sent) => sent.lane === lane);
    await eventually(
      async () => {
        const { messages } = await this.#insist((client) => client.call("listMessages", { query: { session: lane, limit: 20 } }));
        return messages.every(({ endedAt, settled }) => endedAt !== null || settled);
      },
      STUCK_MS,
      100,
    ).catch(() => {});
    // An agent without hooks may still work on a settled message.
    const last = mine.at(-1)?.id ?? "";
    await eventually(async () => (await this.#asked(last)).every(({ state }) => state !== "open"), STUCK_MS, 100).catch(() => {});
    this.#ended = this.#sent.length;
    this.#plan.onProgress?.(this.#ended, this.#downs.length);
  }

  async #kill(): Promise<void> {
    const [least, most] = this.#plan.killMs;
    while (!this.#done) {
      const until = performance.now() + least + this.#plan.random() * (most - least);
      while (performance.now() < until && !this.#done) await sleep(20);
      if (this.#done) return;
      const { pid } = JSON.parse(readFileSync(openHome(this.#world.home.env).daemonFile, "utf8")) as { pid: number };
      const from = Date.now();
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        continue;
      }
      await this.#world.up();
      this.#downs.push({ from, to: Date.now() });
    }
  }

  async #judge(): Promise<Outcome> {
    const { messages } = await this.#insist((client) => client.call("listMessages", { query: { limit: this.#sent.length + 1 } }));
    const byId = new Map(messages.map((message) => [message.id, message]));
    const asked = (await this.#world.model.asked()).filter(({ tools }) => tools.length > 0);
    const outcome: Outcome = {
      messages: this.#sent.length,
      kills: this.#downs.length,
      kinds: {},
      states: {},
      unknown: [],
      held: [],
      wrong: [],
    };
    for (const sent of this.#sent) {
      const message = byId.get(sent.id);
      count(outcome.kinds, sent.kind);
      count(outcome.states, message?.state ?? "gone");
      const name = `${sent.kind} ${sent.id} to ${sent.lane}`;
      const verdict = judge(sent, message, asked);
      if (verdict) outcome.wrong.push(`${name}: ${verdict}`);
      if (message?.state === "injected") outcome.unknown.push(`${name}: ${message.why}`);
      const late = heldMs(sent, message, { asked, sent: this.#sent, downs: this.#downs });
      if (late > HELD_MS) outcome.held.push(`${name}: ${late} ms`);
    }
    const strange = asked.filter(({ prompt }) => prompt.includes(DRAFT));
    if (strange.length > 0) outcome.wrong.push(`a draft was sent: ${JSON.stringify(strange[0]?.prompt)}`);
    return outcome;
  }

  async #asked(id: string): Promise<Asked[]> {
    return (await this.#world.model.asked()).filter((request) => request.tools.length > 0 && idOf(request) === id);
  }

  async #screen(lane: string): Promise<string> {
    const { lines } = await this.#insist((client) => client.call("getScreen", { params: { ref: lane } }));
    return lines.join("\n");
  }

  #shows(lane: string, text: string): Promise<boolean> {
    return eventually(async () => (await this.#screen(lane)).includes(text), STUCK_MS, 100);
  }

  async #command(args: readonly string[]): Promise<void> {
    await this.#insistOn(() => this.#world.home.ok(args));
  }

  #insist<T>(work: (client: HoldfastClient) => Promise<T>): Promise<T> {
    return this.#insistOn(async () => {
      using client = this.#world.home.client();
      return await work(client);
    });
  }

  /** Retries while the daemon is down. */
  async #insistOn<T>(work: () => Promise<T>): Promise<T> {
    for (const began = performance.now(); ; ) {
      try {
        return await work();
      } catch (error) {
        const isDown = /ECONN|ENOENT|EPIPE|socket|daemon/.test(`${(error as { code?: string }).code} ${error}`);
        if (!isDown || performance.now() > began + STUCK_MS) throw error;
        await sleep(100);
      }
    }
  }
}

/** Returns undefined if the receipt is true. */
export function judge(sent: Sent, message: Message | undefined, asked: readonly Asked[]): string | undefined {
  if (!message) return "it was accepted and is gone";
  const first = asked.filter((request) => idOf(request) === sent.id && request.results.length === 0);
  if (first.length > 1) return `the model was asked ${first.length} times`;
  const { state, reply, why } = message;
  if (first.length === 0) return `the model was never asked; it is called ${state}: ${why}`;
  if (reply !== null && !reply.includes(sent.id)) return `it is given the reply of another: ${JSON.stringify(reply)}`;
  // A message whose answer was complete before Esc was answered.
  const isCutShort = asked.some((request) => idOf(request) === sent.id && request.state === "aborted");
  if (sent.kind === "interrupted" && isCutShort && state === "replied") return "it was interrupted and is called replied";
  if (state === "failed" && !sent.escaped) return `it is called failed: ${why}`;
  if (state !== "replied" && state !== "failed" && state !== "injected") return `it stayed ${state}: ${why}`;
  return undefined;
}

interface Lane {
  asked: readonly Asked[];
  sent: readonly Sent[];
  downs: readonly { from: number; to: number }[];
}

/** How long the message waited for a ready agent. */
export function heldMs(sent: Sent, message: Message | undefined, { asked, sent: all, downs }: Lane): number {
  if (!message || message.injectedAt === null) return 0;
  const injected = Date.parse(message.injectedAt);
  const lane = new Set(all.filter((each) => each.lane === sent.lane && each.id !== sent.id).map(({ id }) => id));
  const turns = asked.filter((request) => lane.has(idOf(request) ?? "") && request.endedAt !== null && request.endedAt <= injected);
  const frees = all.filter((each) => each.lane === sent.lane && each.freeAt > 0 && each.freeAt <= injected).map(({ freeAt }) => freeAt);
  const ups = downs.filter(({ from }) => from <= injected).map(({ to }) => to);
  const ready = Math.max(Date.parse(message.queuedAt), ...turns.map(({ endedAt }) => endedAt ?? 0), ...frees, ...ups);
  return Math.max(0, injected - ready);
}

/** The message that a request is for: the last id in its prompt. */
function idOf({ prompt }: Asked): string | undefined {
  return prompt.match(/(?<=\b(?:say|touch) )[a-z][a-z2-7]{9}\b/g)?.at(-1);
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
