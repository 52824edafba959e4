/**
 * Members of one group share values and messages while the daemon is killed at random times. Most members are shells, whose mailboxes are read with
 * the tokens of their runs, as a program in them would. The others are conversations, which get messages as turns. The truth is what each reader got
 * and what the transcripts contain; the journal is compared with it.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type GroupMessage, type Message, newId, type ReadMessage, type Session } from "@holdfast/contract";
import { openHome } from "@holdfast/platform";
import { HoldfastClient, unixTransport } from "@holdfast/sdk";
import { eventually, TestHome } from "../home.ts";

export interface Plan {
  members: number;
  /** How many of the members are conversations. */
  conversations: number;
  keys: number;
  /** A message counts once, however many recipients it has. */
  messages: number;
  random(): number;
  killMs: readonly [least: number, most: number];
  onProgress?(sent: number, read: number, kills: number): void;
}

export interface Outcome {
  sent: number;
  /** Copies of all messages, one per recipient. */
  deliveries: number;
  handedOver: number;
  kills: number;
  keys: number;
  seconds: number;
  /** Descriptions of all errors; must be empty. */
  wrong: string[];
}

const GROUP = "team";
/** The share of messages to all members. */
const TO_ALL = 0.01;
const TO_COORDINATOR = 0.04;

interface Member {
  name: string;
  id: string;
  token: string;
  isTalk: boolean;
  /** Received messages in order: the sender and its message number. */
  got: { id: string; from: string; n: number }[];
}

/** An acknowledged message or copy, with its recipient. */
interface Sent {
  id: string;
  to: string;
  from: string;
  n: number;
}

export async function together(plan: Plan): Promise<Outcome> {
  await using home = new TestHome();
  return await new Together(home, plan).play();
}

class Together {
  readonly #home: TestHome;
  readonly #plan: Plan;
  readonly #socket: string;
  readonly #sent: Sent[] = [];
  readonly #values = new Map<string, unknown>();
  #said = 0;
  #kills = 0;
  #done = false;

  constructor(home: TestHome, plan: Plan) {
    this.#home = home;
    this.#plan = plan;
    this.#socket = openHome(home.env).daemonSocket;
  }

  async play(): Promise<Outcome> {
    await this.#home.ok(["up"]);
    const members = await this.#gather();
    const began = performance.now();
    const killing = this.#kill();
    const reading = members.filter(({ isTalk }) => !isTalk).map((member) => this.#read(member));
    try {
      const each = (i: number, all: number) => Math.floor(all / members.length) + (i < all % members.length ? 1 : 0);
      await Promise.all([
        ...members.map((member, i) => this.#speak(member, members, each(i, this.#plan.messages))),
        ...members.map((member, i) => this.#share(member, i, each(i, this.#plan.keys))),
      ]);
      await this.#settled(members);
    } finally {
      this.#done = true;
      await Promise.all([killing, ...reading]);
    }
    for (const member of members.filter(({ isTalk }) => isTalk)) member.got = await this.#transcript(member);
    const wrong = [...this.#compare(members), ...(await this.#compareReceipts()), ...(await this.#compareValues())];
    return {
      sent: this.#said,
      deliveries: this.#sent.length,
      handedOver: members.reduce((sum, { got }) => sum + got.length, 0),
      kills: this.#kills,
      keys: this.#values.size,
      seconds: Math.round((performance.now() - began) / 1000),
      wrong,
    };
  }

  /** Waits until all members are in the group and ready. */
  async #gather(): Promise<Member[]> {
    using client = this.#client();
    await client.call("createGroup", { body: { path: GROUP, limit: this.#plan.members } });
    const start = async (i: number): Promise<Session> => {
      const isTalk = i < this.#plan.conversations;
      const common = { name: `m${i}`, cwd: this.#home.root, env: this.#home.env, groups: [GROUP] };
      const shell = { agent: "shell", command: ["sleep", "100000"] };
      return client.call("spawn", { body: { ...common, ...(isTalk ? { agent: "demo", chat: true } : shell) } });
    };
    const sessions: Session[] = [];
    for (let i = 0; i < this.#plan.members; i++) sessions.push(await start(i));
    return Promise.all(
      sessions.map(async ({ id, name, kind }) => {
        const pid = await eventually(async () => (await client.call("getSession", { params: { ref: id } })).pid ?? undefined);
        const token = await eventually(() => /HOLDFAST_TOKEN=(\S+?)\0/.exec(readFileSync(`/proc/${pid}/environ`, "latin1"))?.[1]);
        return { name, id, token, isTalk: kind === "conversation", got: [] };
      }),
    );
  }

  /** Sends one message after the other, so that order is defined. Retries an unacknowledged message under the same id. */
  async #speak({ name, token }: Member, members: readonly Member[], count: number): Promise<void> {
    const others = members.filter((member) => member.name !== name);
    using client = this.#client(token);
    for (let n = 0; n < count; n++) {
      const body = { id: newId(), text: `say ${name} ${n}` };
      const choice = this.#plan.random();
      const role = choice < TO_ALL ? ("member" as const) : ("coordinator" as const);
      const note = (id: string, to: string) => this.#sent.push({ id, to, from: name, n });
      if (choice < TO_ALL + TO_COORDINATOR && !(role === "coordinator" && name === members[0]?.name)) {
        const sent = await this.#insist(() => client.call("sendToGroup", { params: { group: GROUP }, body: { ...body, role } }));
        for (const { message, name: to } of (sent as GroupMessage).to) note(message, to);
      } else {
        const peer = others[Math.floor(this.#plan.random() * others.length)] as Member;
        await this.#insist(() => client.call("sendMessage", { params: { ref: peer.id }, body }));
        note(body.id, peer.name);
      }
      this.#said++;
    }
  }

  async #share({ name, token }: Member, i: number, count: number): Promise<void> {
    using client = this.#client(token);
    for (let n = 0; n < count; n++) {
      const key = `m${i}.k${n}`;
      const value = { by: name, n, at: this.#plan.random() };
      await this.#insist(() => client.call("shareValue", { params: { group: GROUP, key }, body: { value } }));
      this.#values.set(key, value);
    }
  }

  async #read(member: Member): Promise<void> {
    using client = this.#client(member.token);
    while (!this.#done) {
      const read = newId();
      const { messages } = await this.#insist(() => client.call("readMessages", { body: { read, waitMs: 500 } }));
      for (const message of messages) member.got.push(asGot(message));
    }
  }

  /** Waits until every acknowledged message has arrived. */
  async #settled(members: readonly Member[]): Promise<void> {
    let before = -1;
    for (let still = performance.now(); performance.now() < still + 60_000; await sleep(200)) {
      const open = await this.#insist(async () => {
        using client = this.#client();
        return (
          await client.call("listMessages", { query: { state: ["queued", "injecting", "injected", "turn_started"], limit: "20000" } })
        ).messages;
      });
      const left = open.filter(({ via, state }) => !(state === "injected" && via === "read")).length;
      const read = members.reduce((sum, { got }) => sum + got.length, 0);
      this.#plan.onProgress?.(this.#said, read, this.#kills);
      if (left === 0 && read >= this.#sent.filter(({ to }) => !members.find(({ name }) => name === to)?.isTalk).length) return;
      if (left !== before) still = performance.now();
      before = left;
    }
  }

  /** The messages in a conversation's own transcript. */
  async #transcript({ id }: Member): Promise<Member["got"]> {
    using client = this.#client();
    const got: Member["got"] = [];
    for (let after: string | undefined, more = true; more; ) {
      const page = await client.call("readTranscript", { params: { ref: id }, query: after === undefined ? {} : { after } });
      for (const { entry } of page.entries) if (entry.type === "user") got.push(asGot({ id: entry.message, text: entry.text }));
      after = page.cursor;
      more = page.more && page.entries.length > 0;
    }
    return got;
  }

  async #kill(): Promise<void> {
    const [least, most] = this.#plan.killMs;
    while (!this.#done) {
      const until = performance.now() + least + this.#plan.random() * (most - least);
      while (performance.now() < until && !this.#done) await sleep(5);
      const pid = this.#done ? undefined : this.#daemonPid();
      if (pid === undefined) continue;
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        continue;
      }
      this.#kills++;
      await this.#home.cli(["up"]);
    }
  }

  /** Checks that no message is lost or duplicated, and that each sender's messages are in order. */
  #compare(members: readonly Member[]): string[] {
    const wrong: string[] = [];
    for (const { name, got } of members) {
      const meant = new Set(this.#sent.filter(({ to }) => to === name).map(({ id }) => id));
      const times = new Map<string, number>();
      for (const { id } of got) times.set(id, (times.get(id) ?? 0) + 1);
      for (const id of meant) if (!times.has(id)) wrong.push(`${id} was acknowledged, and never came to ${name}`);
      for (const [id, count] of times) {
        if (count > 1) wrong.push(`${id} came to ${name} ${count} times`);
        if (!meant.has(id)) wrong.push(`${name} was given ${id}, which nobody sent it`);
      }
      const last = new Map<string, number>();
      for (const { from, n } of got) {
        if (n <= (last.get(from) ?? -1)) wrong.push(`${name} was given what ${from} said out of order: ${n} after ${last.get(from)}`);
        last.set(from, n);
      }
    }
    return wrong.slice(0, 20);
  }

  /** Checks the receipts in the journal against the truth. */
  async #compareReceipts(): Promise<string[]> {
    using client = this.#client();
    const { messages } = await client.call("listMessages", { query: { limit: String(this.#sent.length + 1000) } });
    const states = new Map(messages.map((message) => [message.id, message]));
    const isOver = (message: Message | undefined) =>
      message?.state === "replied" || (message?.state === "injected" && message.via === "read");
    const wrong = this.#sent.filter(({ id }) => !isOver(states.get(id)));
    const text = ({ id, to }: Sent) =>
      `of ${id} to ${to} it is said that it is ${states.get(id)?.state ?? "not there"}: ${states.get(id)?.why}`;
    return wrong.slice(0, 20).map(text);
  }

  async #compareValues(): Promise<string[]> {
    using client = this.#client();
    const { values } = await client.call("listValues", { params: { group: GROUP } });
    const wrong = values.length === this.#values.size ? [] : [`there are ${values.length} values, and ${this.#values.size} were shared`];
    const revisions = new Set(values.map(({ revision }) => revision));
    if (revisions.size !== values.length) wrong.push("two values have one revision");
    for (const [key, value] of this.#values) {
      const found = await client.call("getValue", { params: { group: GROUP, key } });
      if (JSON.stringify(found.value) !== JSON.stringify(value))
        wrong.push(`${key} is ${JSON.stringify(found.value)}, not ${JSON.stringify(value)}`);
    }
    return wrong.slice(0, 20);
  }

  /** Retries until a daemon answers. */
  async #insist<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const { code } = error as { code?: string };
        if (code !== "daemon_unreachable" && !/ECONN|ENOENT|EPIPE|socket|daemon/.test(String(error))) throw error;
        await sleep(50);
      }
    }
  }

  #client(token?: string): HoldfastClient {
    return new HoldfastClient(unixTransport(this.#socket, { token }));
  }

  #daemonPid(): number | undefined {
    try {
      return (JSON.parse(readFileSync(openHome(this.#home.env).daemonFile, "utf8")) as { pid: number }).pid;
    } catch {
      return undefined;
    }
  }
}

/** Parses a text, which names its sender and message number. */
function asGot({ id, text }: Pick<ReadMessage, "id" | "text">): Member["got"][number] {
  const [, from = "", n = ""] = text.split(" ");
  return { id, from, n: Number(n) };
}
