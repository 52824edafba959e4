import type { Session } from "@holdfast/contract/session";
import type { HoldfastClient } from "@holdfast/sdk/client";

/** A session and all that descend from it, as far as they run; the parents may have ended. */
export async function treeOf(client: HoldfastClient, root: string): Promise<Session[]> {
  const { sessions } = await client.call("listSessions", { query: { all: true } });
  const tree = new Set([root]);
  for (let size = 0; size < tree.size; ) {
    size = tree.size;
    for (const { id, parent } of sessions) if (parent !== null && tree.has(parent)) tree.add(id);
  }
  return sessions.filter(({ id, endedAt }) => tree.has(id) && endedAt === null);
}
