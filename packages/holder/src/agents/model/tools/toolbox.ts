/**
 * What the model may use, of the agent's own tools and of those of the servers: as far as the settings and the role name them, and as far as there is room. The model is
 * told all of them with each question, so that many of them leave little of a small context for anything else.
 */
import type { ModelOrder } from "@holdfast/contract/agent-order";
import { meansServer, serverPrefix } from "@holdfast/contract/tool-names";
import { bytesOf } from "../../context/tokens.ts";
import type { Notice } from "../../notices.ts";
import type { Servers } from "../servers/servers.ts";
import { TOOLS, toolsNamed } from "./index.ts";
import type { AgentTool } from "./tool.ts";

/** What the agent's own tools are to the model, beside the messages, in bytes. */
const OWN_BYTES = 3000;

/** What tools of servers may take of the context. */
const MOST_SHARE = 0.5;

export interface Offered {
  tools: readonly AgentTool[];
  /** What they are to the model, in bytes. */
  bytes: number;
  /** What servers say of themselves. */
  instructions: readonly string[];
}

export class Toolbox {
  readonly #choices: readonly (readonly string[])[];
  readonly #servers: Servers;
  #isUnknownTold = false;
  #isTooMuchTold = false;

  constructor({ tools, roleTools }: Pick<ModelOrder, "tools" | "roleTools">, servers: Servers) {
    this.#choices = [tools, roleTools].filter((names) => names !== null);
    this.#servers = servers;
  }

  /** Which there are now. `room`: what the context has, in bytes. */
  offer(room: number): { offered: Offered; notices: Notice[] } {
    const all = [...TOOLS, ...this.#servers.tools()];
    const chosen = this.#choices.reduce<readonly AgentTool[]>((left, names) => toolsNamed(names, left).tools, all);
    const foreign = chosen.filter(({ schema }) => schema !== undefined);
    const foreignBytes = foreign.reduce((sum, tool) => sum + bytesOfTool(tool), 0);
    // How much room there is, is estimated: what was left out once does not come and go with that.
    const isTooMuch = this.#isTooMuchTold || foreignBytes > room * MOST_SHARE;
    const tools = isTooMuch ? chosen.filter(({ schema }) => schema === undefined) : chosen;
    const notices = [this.#unknown(all), isTooMuch ? this.#tooMuch(foreign.length, foreignBytes) : undefined];
    return {
      offered: { tools, bytes: OWN_BYTES + (isTooMuch ? 0 : foreignBytes), instructions: this.#instructions(tools) },
      notices: notices.filter((notice) => notice !== undefined),
    };
  }

  #instructions(tools: readonly AgentTool[]): string[] {
    const offering = this.#servers.names.filter((name) => tools.some((tool) => tool.name.startsWith(serverPrefix(name))));
    return this.#servers.instructions(new Set(offering));
  }

  #unknown(all: readonly AgentTool[]): Notice | undefined {
    if (this.#isUnknownTold) return undefined;
    this.#isUnknownTold = true;
    const unknown = this.#choices.flatMap((names) => toolsNamed(names, all).unknown);
    // Of a server that is not there it is told that it is not.
    const nameless = unknown.filter((name) => !this.#servers.names.some((server) => meansServer([name], server)));
    if (nameless.length === 0) return undefined;
    return { about: "tools", severity: "warning", title: `there are no tools named ${nameless.join(", ")}` };
  }

  #tooMuch(count: number, bytes: number): Notice | undefined {
    if (this.#isTooMuchTold) return undefined;
    this.#isTooMuchTold = true;
    return {
      about: "tools",
      severity: "warning",
      title: `the ${count} tools of MCP servers need more than half of the context (${bytes.toLocaleString("en")} bytes): they are left out`,
      description: "choose some of them with tools of the agent in config.toml, or raise its context.tokens.",
    };
  }
}

function bytesOfTool({ name, description, schema }: AgentTool): number {
  return bytesOf(name) + bytesOf(description) + bytesOf(JSON.stringify(schema));
}
