/** Drives one agent for a recording; the model and the words on the screen show which state it is in. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Screen } from "@holdfast/contract";
import { argumentsOf } from "@holdfast/platform";
import type { Asked } from "../../../agents/src/model/server.ts";
import { eventually } from "../../home.ts";
import { type AgentName, IDLE } from "../agents.ts";
import type { RealWorld } from "../world.ts";
import type { Words } from "./variant.ts";

const PATIENCE_MS = 60_000;
const EVERY_MS = 100;
/** A screen has settled when it stays the same this long; a screen with a spinner is taken after LONGEST_MS. */
const SETTLED_MS = 1500;
const LONGEST_MS = 6000;

export class Driver {
  readonly agent: AgentName;
  readonly words: Words;
  readonly #world: RealWorld;
  #prompt = "";

  constructor(world: RealWorld, agent: AgentName, words: Words) {
    this.#world = world;
    this.agent = agent;
    this.words = words;
  }

  async ready(): Promise<void> {
    if (this.#prompt === "") await this.settles(IDLE[this.agent]);
  }

  async prompt(text: string): Promise<void> {
    await this.ready();
    this.#prompt = text;
    await this.type(text);
    await this.keys("Enter");
  }

  async type(text: string): Promise<void> {
    await this.paste(text);
    await this.shows(text.slice(0, 12));
    await sleep(300);
  }

  async paste(text: string): Promise<void> {
    await this.#world.home.ok(["send", this.agent, "--no-enter", text]);
  }

  async keys(...keys: string[]): Promise<void> {
    await this.#world.home.ok(["keys", this.agent, ...keys]);
  }

  async interrupt(): Promise<void> {
    await this.keys("Escape");
    if (this.agent !== "opencode") return;
    await sleep(400);
    await this.keys("Escape");
  }

  /** Waits until the newest request of the last prompt matches. */
  async model(is: (asked: Asked) => boolean): Promise<void> {
    await eventually(
      async () => {
        const newest = (await this.#world.model.asked()).findLast(({ prompt, tools }) => prompt.includes(this.#prompt) && tools.length > 0);
        return newest !== undefined && is(newest);
      },
      PATIENCE_MS,
      EVERY_MS,
    );
  }

  async shows(what: string | RegExp): Promise<Screen> {
    return this.#world.shows(this.agent, what);
  }

  /** Waits until the screen and the model match and the screen has settled. */
  async settles(what: string | RegExp, is?: (asked: Asked) => boolean): Promise<void> {
    if (is !== undefined) await this.model(is);
    let last = await this.shows(what);
    let since = performance.now();
    const began = since;
    while (performance.now() - since < SETTLED_MS && performance.now() - began < LONGEST_MS) {
      await sleep(250);
      const now = await this.#world.screen(this.agent);
      if (now.ansi !== last.ansi || now.title !== last.title) since = performance.now();
      last = now;
    }
  }

  /** Waits until a process of the agent runs this command. */
  async runs(command: string): Promise<void> {
    await eventually(
      () => this.#world.home.processes().some(({ pid }) => argumentsOf(pid).join(" ").trim() === command),
      PATIENCE_MS,
      EVERY_MS,
    );
  }

  /** Waits for changes that need time: a retry, a running counter. */
  async time(ms: number): Promise<void> {
    await sleep(ms);
  }
}
