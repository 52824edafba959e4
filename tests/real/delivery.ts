/** Checks for messages to each real agent: they arrive once and in order, and garble and approve nothing. */
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Message, Session } from "@holdfast/contract";
import { expect } from "vitest";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { ALLOW } from "./turns.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Agents with a channel besides the composer. */
const CHANNELED: readonly AgentName[] = ["qwen"];

const PATIENCE_MS = 100_000;

/** Long enough for a stray Enter to take effect. */
const STRAY_MS = 1500;

class Said {
  readonly #world: RealWorld;
  readonly #agent: AgentName;

  constructor(world: RealWorld, agent: AgentName) {
    this.#world = world;
    this.#agent = agent;
  }

  send(text: string, ...flags: string[]): Promise<Message> {
    return this.#world.home.json<Message>(["send", this.#agent, ...flags, "--", text]);
  }

  /** Waits for the answer to a message. */
  async ends(message: Message): Promise<Message> {
    const last = await this.comes(message, ({ endedAt, settled }) => endedAt !== null || settled);
    expect(last).toMatchObject({ state: "replied" });
    return last;
  }

  async comes(message: Message, to: (message: Message) => boolean): Promise<Message> {
    let last: Message | undefined;
    try {
      return await eventually(
        async () => {
          last = (await this.#world.home.json<Message[]>(["messages", this.#agent])).find(({ id }) => id === message.id);
          return last && to(last) && last;
        },
        PATIENCE_MS,
        200,
      );
    } catch {
      const { lines } = await this.#world.screen(this.#agent);
      throw new Error(`${JSON.stringify(last)} never came to ${to}; ${this.#agent} shows:\n${lines.join("\n")}`);
    }
  }

  /** Counts the model's requests for the prompt, without requests for tool results and titles. */
  async times(text: string): Promise<number> {
    return (await this.#world.model.asked()).filter(({ prompt, results }) => prompt.trim() === text && results.length === 0).length;
  }
}

export async function deliversMessages(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  const { cwd } = await world.spawn(agent);
  const said = new Said(world, agent);
  await becomes(world, agent, "idle");
  await answers(world, agent);
  await waitsForTheTurn(said, world, agent);
  await answersOnlyItsOwn(said, world, agent);
  await waitsForDrafts(said, world, agent);
  await approvesNothing(said, world, { agent, cwd });
  await takesLongTexts(said);
  await takesAnyLetters(said, world);
  await takesCommands(said, agent);
}

async function answers(world: RealWorld, agent: AgentName): Promise<void> {
  const reply = await world.home.ok(["send", agent, "talk 2s; say the quick brown fox", "--wait", "--timeout", "60s"]);
  expect(reply).toMatch(/the quick brown fox\n$/);
  const [message] = await world.home.json<Message[]>(["messages", agent]);
  expect(message).toMatchObject({ state: "replied", text: "talk 2s; say the quick brown fox" });
}

async function waitsForTheTurn(said: Said, world: RealWorld, agent: AgentName): Promise<void> {
  // Each turn lasts until the test creates its file.
  const [go, again] = ["go", "again"].map((name) => path.join(world.home.root, name)) as [string, string];
  const words = `talk 1s; until ${go}; say that was the first`;
  const first = await said.send(words);
  await becomes(world, agent, "working");
  const second = await said.send("say that was the second");
  expect(second).toMatchObject({ state: "queued", why: expect.stringMatching(/is working/) });
  writeFileSync(go, "");
  await said.ends(first);
  const { reply } = await said.ends(second);
  expect(reply?.trim()).toBe("that was the second");
  expect([await said.times(words), await said.times("say that was the second")]).toEqual([1, 1]);

  await said.send(`talk 1s; until ${again}; say that was long`);
  await becomes(world, agent, "working");
  const steered = await said.send("say steered", "--steer");
  expect(["injected", "turn_started", "replied"]).toContain(steered.state);
  writeFileSync(again, "");
  await said.ends(steered);
  expect(await said.times("say steered")).toBe(1);
  await becomes(world, agent, "idle");
}

/** An interrupted message has no answer, whatever comes next (truth 8). */
async function answersOnlyItsOwn(said: Said, world: RealWorld, agent: AgentName): Promise<void> {
  const first = await said.send("say to be interrupted; talk 100s");
  await world.shows(agent, /^\W*to be interrupted \w+/m);
  await world.home.ok(["cancel", agent]);
  const next = await said.send("say the next answer");
  const { reply } = await said.ends(next);
  expect(reply?.trim()).toBe("the next answer");
  expect(await said.comes(first, ({ endedAt }) => endedAt !== null)).toMatchObject({ state: "failed", reply: null });
}

async function waitsForDrafts(said: Said, world: RealWorld, agent: AgentName): Promise<void> {
  await world.home.ok(["send", agent, "--no-enter", "my half-typed draft"]);
  await world.shows(agent, "my half-typed draft");
  const message = await said.send("say after the draft");
  if (CHANNELED.includes(agent)) {
    await said.ends(message);
  } else {
    expect(message).toMatchObject({ state: "queued", why: expect.stringMatching(/composer is not empty/) });
    await sleep(STRAY_MS);
  }
  await world.shows(agent, "my half-typed draft");
  expect(await said.times("my half-typed draft")).toBe(0);
  await world.home.ok(["keys", agent, "C-u"]);
  await said.ends(message);
  expect([await said.times("say after the draft"), await said.times("my half-typed draft")]).toEqual([1, 0]);
}

async function approvesNothing(said: Said, world: RealWorld, { agent, cwd }: { agent: AgentName; cwd: Session["cwd"] }): Promise<void> {
  const asking = await said.send("tool shell touch made.txt; say it was made");
  await becomes(world, agent, "waiting");
  const message = await said.send("say after the question", "--steer");
  expect(message).toMatchObject({ state: "queued", why: expect.stringMatching(/waits for an approval/) });
  await sleep(STRAY_MS);
  expect((await world.home.session(agent)).status).toBe("waiting");
  // Some agents ask on their screen at once, others only when the inbox does not answer.
  const asksItself = (await world.screen(agent)).lines.some((line) => ALLOW[agent].test(line));
  if (asksItself) await world.answer(agent, ALLOW[agent], "Escape");
  else await world.home.ok(["approvals", "deny", (await world.home.json<{ id: string }[]>(["approvals"]))[0]?.id ?? ""]);
  await said.ends(message);
  expect(existsSync(path.join(cwd, "made.txt"))).toBe(false);
  expect(await said.times("say after the question")).toBe(1);
  const [ended] = (await world.home.json<Message[]>(["messages", agent])).filter(({ id }) => id === asking.id);
  expect(["failed", "replied"]).toContain(ended?.state);
}

async function takesLongTexts(said: Said): Promise<void> {
  const lines = Array.from({ length: 260 }, (_, i) => `line ${i}: ${"so many words ".repeat(5)}`.trim());
  const text = [...lines, "say I have read it all"].join("\n");
  expect(text.length).toBeGreaterThan(20_000);
  const message = await said.send(text);
  const { reply } = await said.ends(message);
  expect(reply?.trim()).toBe("I have read it all");
  expect(await said.times(text)).toBe(1);
}

/** Agents show some of these letters differently or not at all; sequences that would act as keys are not typed. */
async function takesAnyLetters(said: Said, world: RealWorld): Promise<void> {
  const message = await said.send("say \x1b[31m👨\u200d👩\u200d👧\x1b[0m e\u0301 שלום \u202eevil\u202c\tand\x1b 漢字");
  await said.ends(message);
  const prompts = (await world.model.asked()).map(({ prompt }) => prompt);
  expect(prompts).toContainEqual(expect.stringMatching(/^say 👨\u200d👩\u200d👧 (é|e\u0301) שלום .*evil.*and 漢字$/u));
}

/** A command that starts no turn has no answer, and the next message does not wait for one (truth 6). */
async function takesCommands(said: Said, agent: AgentName): Promise<void> {
  const command = await said.send(agent === "opencode" ? "/new" : "/clear");
  const { reply } = await said.ends(await said.send("say after the command"));
  expect(reply?.trim()).toBe("after the command");
  expect(await said.comes(command, ({ settled }) => settled)).toMatchObject({ state: "injected", endedAt: null });
}
