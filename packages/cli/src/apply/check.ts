/** Checks the whole file for steps that cannot be done, before the first step runs. */
import { statSync } from "node:fs";
import { HoldfastError } from "@holdfast/contract/errors";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { spawnBody } from "./carry-out.ts";
import type { World } from "./compare.ts";
import type { Plan, PlannedSession } from "./plan.ts";
import type { Comparison, Refused, Step } from "./steps.ts";

interface Fault {
  line: number;
  what: string;
  hint?: string | undefined;
}

export async function checkSteps(
  client: HoldfastClient,
  { name, plan, world, steps, refused }: { name: string; plan: Plan; world: World } & Pick<Comparison, "steps" | "refused">,
): Promise<void> {
  const starting = steps.flatMap((step) => (step.do === "start" ? [step.planned] : []));
  const faults = [
    ...refused.map(foreignFault),
    ...roomFaults(plan, world, steps),
    ...(starting.length === 0 ? [] : await startFaults(client, starting)),
  ];
  if (faults.length === 0) return;
  const [only] = faults.length === 1 ? faults.map(({ hint }) => hint) : [];
  throw new HoldfastError("plan_invalid", faults.map(({ line, what }) => `${name}:${line}: ${what}`).join("\n"), {
    hint: `${only ?? "see: holdfast agents, holdfast personas, holdfast workspace ls"}; nothing was changed`,
  });
}

function foreignFault({ name, line, keys }: Refused): Fault {
  return {
    line,
    what: `this file did not start the session ${name}, so it cannot set its ${keys.join(", ")}`,
    hint: `omit ${keys.length === 1 ? "it" : "them"} to use the session as it is, choose another name in the file, or remove the session first: holdfast rm ${name}`,
  };
}

/** Counts members in the order of the steps. */
function roomFaults(plan: Plan, { groups, limit: usual }: World, steps: readonly Step[]): Fault[] {
  const members = new Map(groups.map((group) => [group.path, group.members.length]));
  const most = new Map<string, number>();
  for (const step of steps) {
    const joined = step.do === "start" ? step.planned.groups : step.do === "join" ? [step.group] : [];
    for (const group of joined) members.set(group, (members.get(group) ?? 0) + 1);
    if (step.do === "leave") members.set(step.group, (members.get(step.group) ?? 0) - 1);
    for (const group of joined) most.set(group, Math.max(most.get(group) ?? 0, members.get(group) ?? 0));
  }
  return [...most].flatMap(([path, count]) => {
    const planned = plan.groups.find((each) => each.path === path);
    const there = groups.find((each) => each.path === path);
    const limit = planned?.limit ?? there?.limit ?? usual;
    if (count <= limit) return [];
    const others = there?.members.length ? `, including its current ${there.members.length}` : "";
    const what = `the group ${path} has a limit of ${limit}, and would have ${count} members${others}`;
    return [{ line: planned?.line ?? 1, what, hint: `raise its limit: [groups.${JSON.stringify(path)}] limit = ${count}` }];
  });
}

async function startFaults(client: HoldfastClient, starting: readonly PlannedSession[]): Promise<Fault[]> {
  const { PATH: path, HOME: home } = process.env;
  const { agents } = await client.call("listAgents", { query: { path, home } });
  const needsWorkspaces = starting.some(({ request }) => request.workspace !== undefined);
  const { workspaces } = needsWorkspaces ? await client.call("listWorkspaces", { query: {} }) : { workspaces: [] };
  const branches: { repository: string; branch: string; name: string }[] = [];
  const faults: Fault[] = [];
  for (const planned of starting) {
    const { name, line, request } = planned;
    const { agent, persona, chat, cwd, workspace } = request;
    const isThere = workspaces.some((each) => each.name === workspace || each.id.startsWith(workspace ?? ""));
    const found = agents.find((each) => each.name === agent);
    const wrong = (what: string, hint?: string) => faults.push({ line, what, hint });
    if (workspace === undefined && isMissing(cwd)) wrong(`there is no directory ${cwd}`);
    else if (workspace !== undefined && !isThere)
      wrong(`there is no workspace ${JSON.stringify(workspace)}; there are ${workspaces.map((each) => each.name).join(", ") || "none"}`);
    else if (agent !== "" && !found)
      wrong(`there is no agent ${JSON.stringify(agent)}; there are ${agents.map((each) => each.name).join(", ")}`);
    else if (chat && found?.structured === null) wrong(`${agent} does not support conversations here; omit chat`);
    else if (persona !== undefined && !(await hasPersona(client, { persona, cwd, home })))
      wrong(`there is no persona ${JSON.stringify(persona)} in ${cwd}`, "see: holdfast personas");
    else {
      try {
        const { repository, branch } = await client.call("checkSpawn", { body: { ...spawnBody(planned), groups: [] } });
        if (repository === null || branch === null) continue;
        const other = branches.find((each) => each.repository === repository && isInTheWay(each.branch, branch));
        if (other?.branch === branch)
          wrong(`the session ${other.name} uses the branch ${branch} too`, "a branch can be checked out in one worktree only");
        else if (other) wrong(`the branch ${branch} cannot exist beside ${other.branch}, the branch of the session ${other.name}`);
        branches.push({ repository, branch, name });
      } catch (error) {
        // The file is correct; the user is asked for trust.
        if (!(error instanceof HoldfastError) || error.code === "not_trusted") throw error;
        wrong(error.message, error.hint);
      }
    }
  }
  return faults;
}

/** True also if one branch name would be a directory of the other: git stores branches as files. */
function isInTheWay(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

async function hasPersona(client: HoldfastClient, { persona, cwd, home }: { persona: string; cwd: string; home: string | undefined }) {
  const { personas } = await client.call("listPersonas", { query: { cwd, ...(home ? { home } : {}) } });
  return personas.some((each) => each.name === persona && each.shadowedBy === null);
}

/** If the CLI cannot tell, the daemon reports it. */
function isMissing(directory: string): boolean {
  try {
    return statSync(directory, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
