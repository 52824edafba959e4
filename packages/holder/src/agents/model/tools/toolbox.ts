/**
 * Selects the tools for the model, from the agent's own tools and those of MCP servers: by the names in the settings and the role, and by the available space. All
 * tools are sent with every request, so many of them would fill a small context.
 */
import type { ModelOrder } from "@holdfast/contract/agent/order";
import { meansServer, serverPrefix } from "@holdfast/contract/agent/tool-names";
import { bytesOf } from "../../context/tokens.ts";
import type { Notice } from "../../notices.ts";
import type { Servers } from "../servers/servers.ts";
import { TOOLS, toolsNamed } from "./index.ts";
import type { AgentTool } from "./tool.ts";

/** Size of the agent's own tools in a request. */
const OWN_BYTES = 3000;

/** Share of the context that tools of MCP servers may use. */
const MOST_SHARE = 0.5;

export interface Offered {
  tools: readonly AgentTool[];
  /** Size of the tools in a request. */
  bytes: number;
  /** The servers' own instructions. */
  instructions: readonly string[];
}

export class Toolbox {
  readonly #choices: readonly (readonly string[])[];
  readonly #denied: readonly string[];
  readonly #servers: Servers;
  #isUnknownTold = false;
  #isTooMuchTold = false;

  constructor({ tools, roleTools, roleDenied }: Pick<ModelOrder, "tools" | "roleTools" | "roleDenied">, servers: Servers) {
    this.#choices = [tools, roleTools].filter((names) => names !== null);
    // Of `Bash(rm:*)` it can deny only the whole tool.
    this.#denied = roleDenied.map((name) => name.replace(/\(.*/s, ""));
    this.#servers = servers;
  }

  /** The tools for the next request. `room`: size of the context in bytes. */
  offer(room: number): { offered: Offered; notices: Notice[] } {
    const all = [...TOOLS, ...this.#servers.tools()];
    const denied = toolsNamed(this.#denied, all).tools;
    const permitted = all.filter((tool) => !denied.includes(tool));
    const chosen = this.#choices.reduce<readonly AgentTool[]>((left, names) => toolsNamed(names, left).tools, permitted);
    const foreign = chosen.filter(({ schema }) => schema !== undefined);
    const foreignBytes = foreign.reduce((sum, tool) => sum + bytesOfTool(tool), 0);
    // The size of the context is an estimate: tools that were once left out must not come and go with it.
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
    // A missing server has its own notice.
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
