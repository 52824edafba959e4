import type { SessionQueries } from "../projection/session-queries.ts";
import type { Spending } from "../usage/spending.ts";
import type { Handlers } from "./bind.ts";
import type { Gate } from "./gate.ts";

export type UsageHandlers = Pick<Handlers, "getUsage">;

export function usageHandlers({ spending, queries, gate }: { spending: Spending; queries: SessionQueries; gate: Gate }): UsageHandlers {
  return {
    getUsage({ query: { session: ref, ...query } }, { reach }) {
      const resolve = (name: string) => (reach === undefined ? queries.resolve(name).id : gate.resolve(reach, "getUsage", name));
      return spending.report({
        ...query,
        ...(ref === undefined ? {} : { session: resolve(ref) }),
        within: reach === undefined ? undefined : queries.descendants(reach),
      });
    },
  };
}
