/** A throw-away Holdfast home with real agents, in a network that contains only the scripted model. */
import { execFile } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Screen, Session } from "@holdfast/contract";
import { installAgent } from "../../script/real-agents.mjs";
import { eventually, HOLDFAST, TestHome } from "../home.ts";
import { type AgentName, type Started, setUp } from "./agents.ts";
import { ModelNetwork } from "./network.ts";

/** The agents are programs of 100 MB and more, on a busy machine. */
const PATIENCE_MS = 100_000;
/** More frequent polling would slow the agent down. */
const EVERY_MS = 100;
/** Gemini takes an Enter within some 60 ms as part of the paste, on a busy machine even later; its screen does not show when that is over. */
const AFTER_PASTE_MS = 500;
/** A key that an agent takes closes its dialog in well under a second; otherwise it must be pressed again. */
const DIALOG_GOES_MS = 3000;

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

  /** Starts another daemon in the same network. */
  async restart(): Promise<void> {
    await this.home.ok(["down"]);
    await this.up();
  }

  /** Starts a daemon in the same network after everything was killed. */
  async up(): Promise<void> {
    const [program = "", ...args] = [...this.model.prefix, HOLDFAST, "up"];
    await promisify(execFile)(program, args, { cwd: this.home.root, env: this.home.env });
  }

  /** Sets up the agent with its own project and home. */
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

  /** Waits until the screen matches; returns it. */
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
   * Types a prompt and submits it once the composer shows it: an Enter with the paste would become part of it, and an earlier Enter could approve
   * something.
   */
  async prompt(name: string, text: string): Promise<void> {
    const isThere = async () => (await this.screen(name)).lines.join("\n").includes(text.slice(0, 30));
    // An agent that has just drawn its composer may not read input yet.
    for (let pastes = 0; pastes === 0 || (pastes < 3 && !(await isThere())); pastes++) {
      await this.home.ok(["send", name, "--no-enter", text]);
      await eventually(isThere, 8000, EVERY_MS).catch(() => {});
    }
    await this.shows(name, text.slice(0, 30));
    await sleep(AFTER_PASTE_MS);
    await this.home.ok(["keys", name, "Enter"]);
    if (!name.startsWith("gemini")) return;
    // The agent may still take the Enter as part of the paste.
    const asked = async () => (await this.model.asked()).some(({ prompt }) => prompt.includes(text.slice(0, 30)));
    await eventually(asked, 3000, EVERY_MS).catch(() => this.home.ok(["keys", name, "Enter"]));
  }

  /**
   * Waits for a dialog, presses a key, and waits until the dialog closes. Claude ignores keys in the first 150 ms of a dialog (codex, gemini,
   * opencode and qwen take the first key). The key is pressed again only while the same dialog is open, so it never answers another one.
   */
  async answer(name: string, dialog: RegExp, key: string): Promise<void> {
    const asked = dialogOn(await this.shows(name, dialog), dialog);
    const stands = async () => dialogOn(await this.screen(name), dialog) === asked;
    for (let presses = 0; presses < 3; presses++) {
      await this.home.ok(["keys", name, key]);
      const went = eventually(async () => !(await stands()), DIALOG_GOES_MS, EVERY_MS);
      if (await went.catch(() => false)) return;
    }
    throw new Error(`${name} did not take ${key} at its dialog; it shows:\n${(await this.screen(name)).lines.join("\n")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.home[Symbol.asyncDispose]();
    } finally {
      await this.model[Symbol.asyncDispose]();
    }
  }
}

/** The text that tells one dialog from the next: the choice and the lines right above it, which may contain spinners. */
function dialogOn({ lines }: Screen, dialog: RegExp): string | undefined {
  const full = lines.filter((line) => line.trim() !== "");
  const at = full.findLastIndex((line) => dialog.test(line));
  if (at < 0) return undefined;
  return full
    .slice(Math.max(0, at - 5), at + 1)
    .join("\n")
    .replace(/[⠀-⣿]/g, "");
}
