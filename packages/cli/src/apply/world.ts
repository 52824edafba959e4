/** What there is, as far as a file is about it. */
import { statSync } from "node:fs";
import { HoldfastError } from "@holdfast/contract/errors";
import type { SharedValue } from "@holdfast/contract/group";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { World } from "./compare.ts";
import type { Plan, PlannedSession } from "./plan.ts";

export async function look(client: HoldfastClient, plan: Plan): Promise<World> {
  const [{ sessions }, { groups }, { declared }] = await Promise.all([
    client.call("listSessions", { query: { all: true } }),
    client.call("listGroups", {}),
    client.call("listDeclared", { query: { file: plan.file } }),
  ]);
  const keys = [
    ...plan.groups.flatMap(({ path, context }) => Object.keys(context).map((key) => ({ group: path, key }))),
    ...declared.flatMap(({ what, ref, key }) => (what === "value" && key !== null ? [{ group: ref, key }] : [])),
  ];
  const there = keys.filter(
    ({ group, key }, index) =>
      groups.some(({ path }) => path === group) && keys.findIndex((each) => each.group === group && each.key === key) === index,
  );
  const values = await Promise.all(there.map((place) => ownValue(client, place)));
  const isMissing = ({ name, request }: PlannedSession) => request.worktree !== undefined && !sessions.some((each) => each.name === name);
  const { workspaces } = plan.sessions.some(isMissing) ? await client.call("listWorkspaces", { query: {} }) : { workspaces: [] };
  return {
    sessions,
    groups,
    declared,
    values: values.filter((value) => value !== undefined),
    workspaces: workspaces.filter((each) => each.sessions.length === 0),
  };
}

/** The group's own. */
async function ownValue(client: HoldfastClient, params: { group: string; key: string }): Promise<SharedValue | undefined> {
  try {
    const value = await client.call("getValue", { params });
    return value.group === params.group ? value : undefined;
  } catch (error) {
    if (error instanceof HoldfastError && ["value_not_found", "group_not_found"].includes(error.code)) return undefined;
    throw error;
  }
}

/** Who is to be started is there, and where: found out for all of them before anything is. */
export async function checkStarts(client: HoldfastClient, name: string, starting: readonly PlannedSession[]): Promise<void> {
  if (starting.length === 0) return;
  const { PATH: path, HOME: home } = process.env;
  const { agents } = await client.call("listAgents", { query: { path, home } });
  const needsWorkspaces = starting.some(({ request }) => request.workspace !== undefined);
  const { workspaces } = needsWorkspaces ? await client.call("listWorkspaces", { query: {} }) : { workspaces: [] };
  const faults = await Promise.all(
    starting.map(async ({ line, request: { agent, persona, chat, cwd, workspace } }) => {
      const where = `${name}:${line}: `;
      if (workspace === undefined && isMissing(cwd)) return `${where}there is no directory ${cwd}`;
      if (workspace !== undefined && !workspaces.some((each) => each.name === workspace || each.id.startsWith(workspace)))
        return `${where}there is no workspace ${JSON.stringify(workspace)}; there are ${workspaces.map((each) => each.name).join(", ") || "none"}`;
      if (agent !== "") {
        const found = agents.find((each) => each.name === agent);
        if (!found) return `${where}there is no agent ${JSON.stringify(agent)}; there are ${agents.map((each) => each.name).join(", ")}`;
        if (chat && found.structured === null) return `${where}${agent} cannot be talked to in a conversation here; leave chat out`;
      }
      if (persona === undefined) return undefined;
      const { personas } = await client.call("listPersonas", { query: { cwd, ...(home ? { home } : {}) } });
      if (personas.some((each) => each.name === persona && each.shadowedBy === null)) return undefined;
      return `${where}there is no persona ${JSON.stringify(persona)} in ${cwd}; there are ${personas.map((each) => each.name).join(", ") || "none"}`;
    }),
  );
  const found = faults.filter((fault) => fault !== undefined);
  if (found.length === 0) return;
  throw new HoldfastError("plan_invalid", found.join("\n"), {
    hint: "see: holdfast agents, holdfast personas, holdfast workspace ls; nothing was changed",
  });
}

/** What cannot be told from here, the daemon tells. */
function isMissing(directory: string): boolean {
  try {
    return statSync(directory, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
