import type { Session } from "@holdfast/contract/session/session";
import type { Context } from "../command.ts";
import { inOrder } from "./order.ts";
import type { selectionOf } from "./select.ts";
import { branchesOf, inTree, type Tree } from "./tree.ts";

/** The selected sessions, below their parents, siblings in the order of `ls`. `cursor`: the journal's position before both reads. */
export async function listTree(
  { client, json }: Pick<Context, "client" | "json">,
  query: ReturnType<typeof selectionOf> & { usage: boolean },
): Promise<Tree<Session> & { cursor: string }> {
  const wanted = await client.call("listSessions", { query });
  const all = await client.call("listSessions", { query: { all: true, usage: query.usage } });
  const ids = new Set<string>(wanted.sessions.map(({ id }) => id));
  const shown = branchesOf(all.sessions, ids, { named: query.names !== undefined });
  return { ...inTree(json ? shown : inOrder(shown)), cursor: wanted.cursor };
}
