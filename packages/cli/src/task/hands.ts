/** Who does an item: an agent, or a persona with its agent. Found out for all of them before anything is started. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { TaskItem } from "./parse.ts";

export interface Hands {
  /** Those that can be talked to. */
  agents: readonly string[];
  /** With the agent that each is for, if it says one. */
  personas: ReadonlyMap<string, string | null>;
  /** For items that say nothing, and for personas for any agent. */
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
    personas: new Map(used.map((persona) => [persona.name, persona.agent])),
    usual: agent ?? (real.length === 1 ? real[0] : undefined),
  };
}

/** An agent wins over a persona of the same name. */
export function handsFor({ agent }: TaskItem, hands: Hands): { agent: string; persona?: string } {
  const name = agent ?? hands.usual ?? "";
  if (hands.agents.includes(name) || !hands.personas.has(name)) return { agent: name };
  return { agent: hands.personas.get(name) ?? usualAgent(hands) ?? "", persona: name };
}

/** `--agent` may name a persona, too; one for any agent needs one besides. */
function usualAgent({ usual, personas, agents }: Hands): string | undefined {
  return usual !== undefined && (agents.includes(usual) || !personas.has(usual)) ? usual : undefined;
}

/** Throws with the line of every item that nobody could do. */
export function checkHands(file: string, items: readonly TaskItem[], hands: Hands): void {
  const faults = items.flatMap((item) => {
    const name = item.agent ?? hands.usual;
    if (name === undefined) return [`${file}:${item.line}: nobody is to do it; expected <!-- agent: NAME -->, or --agent NAME`];
    const { agent, persona } = handsFor(item, hands);
    if (persona !== undefined && agent === "")
      return [`${file}:${item.line}: the persona ${name} is for any agent; expected agent: in its file, or --agent NAME`];
    if (hands.agents.includes(agent)) return [];
    const who = persona === undefined ? name : `${agent}, of the persona ${name},`;
    return [`${file}:${item.line}: ${who} is no agent that can be talked to here; expected one of ${known(hands)}`];
  });
  if (faults.length === 0) return;
  throw new HoldfastError("task_file_invalid", [...new Set(faults)].join("\n"), {
    hint: "see: holdfast agents, holdfast personas; nothing was started",
  });
}

function known({ agents, personas }: Hands): string {
  return [...agents, ...personas.keys()].join(", ");
}
