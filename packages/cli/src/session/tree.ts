/** Sessions below their parents. */
import type { Session } from "@holdfast/contract/session/session";

type Node = Pick<Session, "id" | "parent">;

export interface Tree<S extends Node> {
  /** Each session follows its parent. */
  sessions: S[];
  /** Prefix before each name. */
  branches: Map<string, string>;
}

/** Children keep the given order. A session without a parent in the list is a root. */
export function inTree<S extends Node>(sessions: readonly S[]): Tree<S> {
  const known = new Set(sessions.map(({ id }) => id));
  const below = Map.groupBy(sessions, ({ parent }) => (parent !== null && known.has(parent) ? parent : null));
  const tree: Tree<S> = { sessions: [], branches: new Map() };
  const grow = (children: readonly S[], stem: string | undefined) => {
    for (const [index, session] of children.entries()) {
      const isLast = index === children.length - 1;
      tree.sessions.push(session);
      tree.branches.set(session.id, stem === undefined ? "" : `${stem}${isLast ? "└─ " : "├─ "}`);
      grow(below.get(session.id) ?? [], stem === undefined ? "" : `${stem}${isLast ? "   " : "│  "}`);
    }
  };
  grow(below.get(null) ?? [], undefined);
  return tree;
}

/** Selects the wanted sessions with their ancestors, or, if named, with their descendants. */
export function branchesOf<S extends Node>(all: readonly S[], wanted: ReadonlySet<string>, { named }: { named: boolean }): S[] {
  const byId = new Map(all.map((session) => [session.id as string, session]));
  const kept = new Set<string>();
  for (const id of wanted) {
    for (let each = byId.get(id); each && !kept.has(each.id); each = each.parent === null ? undefined : byId.get(each.parent)) {
      kept.add(each.id);
      if (named) break;
    }
  }
  let size = -1;
  while (named && size !== kept.size) {
    size = kept.size;
    for (const { id, parent } of all) if (parent !== null && kept.has(parent)) kept.add(id);
  }
  return all.filter(({ id }) => kept.has(id));
}
