/**
 * Messages to demo agents while the daemon is killed at random times. The truth is the log that each agent writes when a prompt starts a turn;
 * Holdfast's receipt of each message is compared with it.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HOSTS, type Message, newSessionId } from "@holdfast/contract";
import { openHome } from "@holdfast/platform";
import type { HoldfastClient } from "@holdfast/sdk";
import { eventually, TestHome } from "../home.ts";

export interface Plan {
  sends: number;
  sessions: number;
  /** Returns a new random number from 0 to below 1. */
  random(): number;
  /** The shortest and longest time until the next kill; a third of the kills come within the first tenth. */
  killMs: readonly [least: number, most: number];
  /** The file for a trace, to find the cause of a failure. */
  trace?: string;
  onProgress?(done: number, kills: number): void;
}

export interface Outcome {
  sends: number;
  kills: number;
  /** The number of messages in each state when the daemon died, which the next daemon had to resolve. */
  cut: Record<string, number>;
  states: Record<string, number>;
  /** Descriptions of all errors; must be empty. */
  wrong: string[];
}

/** Without kills, an interrupted delivery completes in a tenth of this. */
const STUCK_MS = 100_000;

interface Told {
  at: string;
  prompt: string;
}

export async function deliver(plan: Plan): Promise<Outcome> {
  await using home = new TestHome();
  return await new Deliveries(home, plan).play();
}

class Deliveries {
  readonly #home: TestHome;
  readonly #plan: Plan;
  readonly #sent: { id: string; session: string; text: string }[] = [];
  readonly #cut: Record<string, number> = {};
  #kills = 0;
  #done = false;

  constructor(home: TestHome, plan: Plan) {
    this.#home = home;
    this.#plan = plan;
  }

  async play(): Promise<Outcome> {
    await this.#home.ok(["up"]);
    const names = Array.from({ length: this.#plan.sessions }, (_, i) => `agent-${i}`);
    for (const [i, name] of names.entries()) {
      const host = HOSTS[i % HOSTS.length] ?? "tmux";
      await this.#home.ok(["spawn", "demo", "--name", name, "--host", host, "--", "--fast", "--log", this.#log(name)]);
    }
    const killing = this.#kill();
    let messages: Message[];
    try {
      await Promise.all(names.map((name, i) => this.#send(name, Math.ceil((this.#plan.sends - i) / names.length))));
      messages = await this.#settled();
    } finally {
      this.#done = true;
      await killing;
    }
    return { sends: this.#sent.length, kills: this.#kills, cut: this.#cut, states: countBy(messages), wrong: this.#compare(messages) };
  }

  /** Sends single and several messages, with one line or more, some with a longer turn. */
  async #send(name: string, count: number): Promise<void> {
    const { random } = this.#plan;
    for (let i = 0; i < count; i++) {
      const id = newSessionId();
      const more = random() < 0.2 ? `\nsecond line of ${id}` : "";
      const text = `say ${id}${random() < 0.1 ? "; wait 400ms" : ""}${more}`;
      await this.#insist((client) => client.call("sendMessage", { params: { ref: name }, body: { id, text } }));
      this.#sent.push({ id, session: name, text });
      if (random() < 0.6) await this.#insist((client) => this.#until(client, id));
    }
  }

  async #until(client: HoldfastClient, id: string): Promise<void> {
    for (const began = performance.now(); ; ) {
      const message = await client.call("getMessage", { params: { id }, query: { until: "replied", waitMs: 10_000 } });
      if (message.endedAt !== null || message.settled) return;
      // Each kill restarts the daemon's waits, but not often enough to need this long.
      if (performance.now() > began + STUCK_MS) throw new Error(`nothing comes of ${JSON.stringify(message)}`);
    }
  }

  async #settled(): Promise<Message[]> {
    return eventually(async () => {
      const { messages } = await this.#insist((client) => client.call("listMessages", { query: { limit: this.#sent.length + 1 } }));
      const ended = messages.filter(({ endedAt, settled }) => endedAt !== null || settled);
      this.#plan.onProgress?.(ended.length, this.#kills);
      return ended.length === this.#sent.length ? messages : undefined;
    }, 120_000);
  }

  async #kill(): Promise<void> {
    const [least, most] = this.#plan.killMs;
    while (!this.#done) {
      const { random } = this.#plan;
      const until = performance.now() + least + random() * (random() < 0.33 ? (most - least) / 10 : most - least);
      while (performance.now() < until && !this.#done) await sleep(5);
      if (this.#done) return;
      const pid = daemonPid(this.#home);
      if (pid === undefined) continue;
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        continue;
      }
      this.#kills++;
      await this.#home.cli(["up"]);
      await this.#noteCut();
      this.#plan.onProgress?.(this.#sent.length, this.#kills);
    }
  }

  /** Counts the deliveries that the daemon left half done. */
  async #noteCut(): Promise<void> {
    try {
      using client = this.#home.client();
      const { messages } = await client.call("listMessages", {
        query: { limit: this.#sent.length + 100, state: ["injecting", "injected"] },
      });
      for (const { state } of messages) this.#cut[state] = (this.#cut[state] ?? 0) + 1;
    } catch {
      // The daemon has exited or does not answer yet: nothing to count.
    }
  }

  /** Retries until a daemon answers. */
  async #insist<T>(work: (client: HoldfastClient) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        using client = this.#home.client();
        return await work(client);
      } catch (error) {
        const { code } = error as { code?: string };
        if (code !== "daemon_unreachable" && !/ECONN|ENOENT|EPIPE|socket|daemon/.test(String(error))) throw error;
        await sleep(50);
      }
    }
  }

  #compare(messages: readonly Message[]): string[] {
    const wrong: string[] = [];
    const byId = new Map(messages.map((message) => [message.id, message]));
    for (const name of new Set(this.#sent.map(({ session }) => session))) {
      const told = toldIn(this.#log(name));
      const sent = this.#sent.filter(({ session }) => session === name);
      for (const { id, text } of sent) {
        const times = told.filter(({ prompt }) => prompt === text);
        const verdict = judge(byId.get(id), times);
        if (verdict) wrong.push(`${id} to ${name}: ${verdict}`);
      }
      const strange = told.filter(({ prompt }) => !sent.some(({ text }) => text === prompt));
      for (const { prompt } of strange) wrong.push(`${name} was told what nobody sent: ${JSON.stringify(prompt)}`);
      const order = told.map(({ prompt }) => sent.findIndex(({ text }) => text === prompt));
      if (order.some((place, i) => i > 0 && place < (order[i - 1] ?? 0))) wrong.push(`${name} was told out of order: ${order.join(" ")}`);
    }
    if (wrong.length > 0 && this.#plan.trace !== undefined) this.#keepTrace(wrong, this.#plan.trace);
    return wrong;
  }

  #keepTrace(wrong: readonly string[], file: string): void {
    appendFileSync(file, `${wrong.join("\n")}\n${readFileSync(openHome(this.#home.env).log, "utf8")}\n`);
  }

  #log(name: string): string {
    return join(this.#home.root, `${name}.log`);
  }
}

/** Returns undefined if the receipt is true. */
function judge(message: Message | undefined, told: readonly Told[]): string | undefined {
  if (!message) return "it was acknowledged and is gone";
  if (told.length > 1) return `it was said ${told.length} times`;
  const { state, turnStartedAt, why, known } = message;
  if (state === "failed") return `it failed (${known ? "known" : "not known"}, ${told.length === 1 ? "was" : "was not"} said): ${why}`;
  if (state !== "replied") return `it stayed ${state}: ${why}`;
  if (!told[0]) return "it is called replied, and was never said";
  if (turnStartedAt === null || turnStartedAt < told[0].at)
    return `its turn is said to have begun at ${turnStartedAt}, and began at ${told[0].at}`;
  return undefined;
}

function toldIn(file: string): Told[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Told);
}

function daemonPid(home: TestHome): number | undefined {
  try {
    return (JSON.parse(readFileSync(openHome(home.env).daemonFile, "utf8")) as { pid: number }).pid;
  } catch {
    return undefined;
  }
}

function countBy(messages: readonly Message[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state } of messages) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
