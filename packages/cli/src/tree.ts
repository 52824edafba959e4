/** Sessions under those that started them. */
import type { Session } from "@holdfast/contract/session";

type Node = Pick<Session, "id" | "parent">;

export interface Tree<S extends Node> {
  /** Each after its parent. */
  sessions: S[];
  /** What stands before the name of each. */
  branches: Map<string, string>;
}

/** Of each parent its children in the order given; what has no parent among them is a root. */
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

/** Those that were asked for, in a tree that is whole: with what each descends from, and, of those that were named, with what descends from them. */
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
