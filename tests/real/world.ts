/** A throw-away Holdfast home in a network where only the scripted model is, with real agents in it. */
import { execFile } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Screen, Session } from "@holdfast/contract";
import { installAgent } from "../../script/real-agents.mjs";
import { eventually, HOLDFAST, TestHome } from "../home.ts";
import { type AgentName, type Started, setUp } from "./agents.ts";
import { ModelNetwork } from "./network.ts";

/** Agents of 100 MB and more, on a machine that runs other tests too. */
const PATIENCE_MS = 60_000;
/** Asking more often would take from the agent what it needs to answer. */
const EVERY_MS = 100;
/** Gemini takes an Enter for a part of the paste when it comes within some 60 ms of it, on a busy machine later too; nothing on its screen says when that is over. */
const AFTER_PASTE_MS = 500;

export class RealWorld implements AsyncDisposable {
  readonly home: TestHome;
  readonly model: ModelNetwork;

  private constructor(home: TestHome, model: ModelNetwork) {
    this.home = home;
    this.model = model;
  }

  static async open(): Promise<RealWorld> {
    const home = new TestHome();
    const model = await ModelNetwork.open(home.root);
    const [program = "", ...args] = [...model.prefix, HOLDFAST, "up"];
    await promisify(execFile)(program, args, { cwd: home.root, env: home.env });
    return new RealWorld(home, model);
  }

  /** The agent, ready to be started in a project and a home of its own. */
  async agent(agent: AgentName, name: string = agent): Promise<Started & { project: string; home: string }> {
    await installAgent(agent);
    const home = path.join(this.home.root, `home-${name}`);
    const project = path.join(this.home.root, name, "project");
    return { ...setUp(agent, { home, project, url: this.model.url }), project, home };
  }

  /** Starts the agent in a session of that name. */
  async start(agent: AgentName, name: string = agent): Promise<Session> {
    const { command, env, project } = await this.agent(agent, name);
    return this.home.json<Session>(["run", "--name", name, "--", ...command], { cwd: project, env });
  }

  /** Spawns the agent by its profile, as a user does. */
  async spawn(agent: AgentName, name: string = agent, args: string[] = []): Promise<Session> {
    const { env, project } = await this.agent(agent, name);
    return this.home.json<Session>(["spawn", agent, "--name", name, ...args], { cwd: project, env });
  }

  screen(name: string): Promise<Screen> {
    return this.home.client().call("getScreen", { params: { ref: name } });
  }

  /** Waits until the screen shows it; the screen then. */
  async shows(name: string, what: string | RegExp): Promise<Screen> {
    let last: Screen | undefined;
    try {
      return await eventually(
        async () => {
          last = await this.screen(name);
          const text = last.lines.join("\n");
          return (typeof what === "string" ? text.includes(what) : what.test(text)) && last;
        },
        PATIENCE_MS,
        EVERY_MS,
      );
    } catch {
      throw new Error(`${name} never showed ${what}; it shows:\n${last?.lines.join("\n")}`);
    }
  }

  /**
   * Types a prompt and submits it when it is in the composer: an Enter that comes with the paste is taken for a part of it, and one that
   * comes before it may approve something.
   */
  async prompt(name: string, text: string): Promise<void> {
    await this.home.ok(["send", name, "--no-enter", text]);
    await this.shows(name, text.slice(0, 30));
    await sleep(AFTER_PASTE_MS);
    await this.home.ok(["keys", name, "Enter"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.home[Symbol.asyncDispose]();
    } finally {
      await this.model[Symbol.asyncDispose]();
    }
  }
}
