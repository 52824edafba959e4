import { HoldfastError } from "@holdfast/contract";
import type { McpServer } from "../mcp.ts";
import type { Profile } from "../profile.ts";
import { aider } from "./aider.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { demo } from "./demo.ts";
import { gemini } from "./gemini.ts";
import { model } from "./model.ts";
import { opencode } from "./opencode.ts";
import { q } from "./q.ts";
import { qwen } from "./qwen.ts";
import { shell } from "./shell.ts";

const BUILT_IN: readonly Profile[] = [claude, codex, gemini, qwen, opencode, q, aider, model, demo, shell];

/** The agents that can be started: the built-in ones and user-defined ones. A user-defined agent replaces a built-in one of the same name. */
export class Profiles {
  readonly all: readonly Profile[];

  constructor(
    own: (builtIn: (name: string) => Profile | undefined) => readonly Profile[] = () => [],
    servers: readonly McpServer[] = [],
    ours: readonly Profile[] = BUILT_IN,
  ) {
    const builtIn = (name: string) => ours.find((profile) => profile.name === name);
    const added = own(builtIn);
    const all = [
      ...ours.map((profile) => added.find(({ name }) => name === profile.name) ?? profile),
      ...added.filter(({ name }) => !builtIn(name)),
    ];
    this.all = servers.length === 0 ? all : all.map((profile) => ({ ...profile, servers }));
  }

  /** No agents: nothing is read, typed or answered. */
  static none(): Profiles {
    return new Profiles(() => [], [], []);
  }

  find(agent: string): Profile | undefined {
    return this.all.find(({ name }) => name === agent);
  }

  get(agent: string): Profile {
    const profile = this.find(agent);
    if (profile) return profile;
    const names = this.all.map(({ name }) => name);
    const alike = names.filter((name) => name.startsWith(agent.slice(0, 2)));
    throw new HoldfastError("agent_unknown", `there is no agent ${JSON.stringify(agent)}`, {
      hint: "list agents: holdfast agents; to run any program: holdfast run -- COMMAND",
      candidates: alike.length > 0 ? alike : names,
    });
  }
}
