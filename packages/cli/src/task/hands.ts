/** Chooses the agent, or the persona with its agent, for each item, before anything starts. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Persona } from "@holdfast/contract/persona/persona";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { TaskItem } from "./parse.ts";

export interface Hands {
  /** Agents that support conversations. */
  agents: readonly string[];
  /** Each persona's agent, or null. */
  personas: ReadonlyMap<string, string | null>;
  /** The default, for items that name none and for personas without an agent. */
  usual: string | undefined;
}

export async function findHands(client: HoldfastClient, { cwd, agent }: { cwd: string; agent: string | undefined }): Promise<Hands> {
  const { PATH: path, HOME: home } = process.env;
  const [{ agents }, { personas }] = await Promise.all([
    client.call("listAgents", { query: { path, home } }),
    client.call("listPersonas", { query: { cwd, ...(home ? { home } : {}) } }),
  ]);
  const able = agents.filter(({ structured }) => structured !== null).map(({ name }) => name);
  const real = able.filter((name) => name !== "demo" && name !== "model");
  const used = personas.filter(({ shadowedBy }) => shadowedBy === null);
  return {
    agents: able,
    personas: new Map(used.map((persona) => [persona.name, agentOf(persona, able)])),
    usual: agent ?? (real.length === 1 ? real[0] : undefined),
  };
}

/** Where Claude Code is missing, its agent files are for any agent. */
function agentOf({ agent, source }: Persona, able: readonly string[]): string | null {
  const isClaudes = source === "claude_project" || source === "claude_user";
  return isClaudes && agent !== null && !able.includes(agent) ? null : agent;
}

/** An agent wins over a persona of the same name. */
export function handsFor({ agent }: TaskItem, hands: Hands): { agent: string; persona?: string } {
  const name = agent ?? hands.usual ?? "";
  if (hands.agents.includes(name) || !hands.personas.has(name)) return { agent: name };
  return { agent: hands.personas.get(name) ?? usualAgent(hands) ?? "", persona: name };
}

/** The default agent. `--agent` may also name a persona; a persona without an agent needs one in addition. */
function usualAgent({ usual, personas, agents }: Hands): string | undefined {
  return usual !== undefined && (agents.includes(usual) || !personas.has(usual)) ? usual : undefined;
}

/** Throws with the line of every item that no agent can do. */
export function checkHands(file: string, items: readonly TaskItem[], hands: Hands): void {
  const faults = items.flatMap((item) => {
    const name = item.agent ?? hands.usual;
    if (name === undefined) return [`${file}:${item.line}: the item has no agent; expected <!-- agent: NAME -->, or --agent NAME`];
    const { agent, persona } = handsFor(item, hands);
    if (persona !== undefined && agent === "")
      return [`${file}:${item.line}: the persona ${name} does not name an agent; expected agent: in its file, or --agent NAME`];
    if (hands.agents.includes(agent)) return [];
    const who = persona === undefined ? name : `${agent}, of the persona ${name},`;
    return [`${file}:${item.line}: ${who} is not an agent that supports conversations here; expected one of ${known(hands)}`];
  });
  if (faults.length === 0) return;
  throw new HoldfastError("task_file_invalid", [...new Set(faults)].join("\n"), {
    hint: "see: holdfast agents, holdfast personas; nothing was started",
  });
}

function known({ agents, personas }: Hands): string {
  return [...agents, ...personas.keys()].join(", ");
}
