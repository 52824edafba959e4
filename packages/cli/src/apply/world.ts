/** Reads the current state that a file is compared with. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { SharedValue } from "@holdfast/contract/group/group";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { World } from "./compare.ts";
import type { Plan, PlannedSession } from "./plan.ts";

export async function look(client: HoldfastClient, plan: Plan): Promise<World> {
  const [{ sessions }, { groups, limit }, { declared }] = await Promise.all([
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
    limit,
    declared,
    values: values.filter((value) => value !== undefined),
    workspaces: workspaces.filter((each) => each.sessions.length === 0),
  };
}

/** The group's own value, not an inherited one. */
async function ownValue(client: HoldfastClient, params: { group: string; key: string }): Promise<SharedValue | undefined> {
  try {
    const value = await client.call("getValue", { params });
    return value.group === params.group ? value : undefined;
  } catch (error) {
    if (error instanceof HoldfastError && ["value_not_found", "group_not_found"].includes(error.code)) return undefined;
    throw error;
  }
}
