import type { Session } from "@holdfast/contract/session";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { selectionOf } from "./select.ts";
import { branchesOf, inTree, type Tree } from "./tree.ts";

/** The selected sessions, below their parents. `cursor`: the journal's position before both reads. */
export async function listTree(
  client: HoldfastClient,
  query: ReturnType<typeof selectionOf> & { usage: boolean },
): Promise<Tree<Session> & { cursor: string }> {
  const wanted = await client.call("listSessions", { query });
  const all = await client.call("listSessions", { query: { all: true, usage: query.usage } });
  const ids = new Set<string>(wanted.sessions.map(({ id }) => id));
  return { ...inTree(branchesOf(all.sessions, ids, { named: query.names !== undefined })), cursor: wanted.cursor };
}
