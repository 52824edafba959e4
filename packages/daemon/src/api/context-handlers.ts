import type { EndpointName } from "@holdfast/contract";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Contexts, ContextTarget } from "../workspace/context/contexts.ts";
import type { Caller, Handlers } from "./bind.ts";
import type { Gate } from "./gate.ts";

export type ContextHandlers = Pick<Handlers, "getContext" | "writeContext">;

export function contextHandlers(rooms: { contexts: Contexts; queries: SessionQueries; gate: Gate }): ContextHandlers {
  const { contexts, queries, gate } = rooms;

  /** The directory of the Working Context; a session reaches that of its own workspace, or of a child's. */
  const rootOf = (target: ContextTarget, { reach }: Caller, name: EndpointName): string => {
    if (reach === undefined) return contexts.rootOf(target);
    const root = contexts.rootAmong(target, queries.descendants(reach));
    if (root !== undefined) return root;
    throw gate.refuse(reach, name, `neither this session nor a child of it works in ${target.of ?? target.directory}`);
  };

  return {
    getContext: ({ query }, caller) => contexts.read(rootOf(query, caller, "getContext")),
    writeContext: ({ body: { write, ...target } }, caller) => {
      const root = rootOf(target, caller, "writeContext");
      return write ? contexts.write(root, { ...write, actor: caller.actor }) : contexts.make(root, caller.actor);
    },
  };
}
