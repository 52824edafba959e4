import type { SessionQueries } from "../projection/session-queries.ts";
import type { Spending } from "../usage/spending.ts";
import type { Handlers } from "./bind.ts";

export type UsageHandlers = Pick<Handlers, "getUsage">;

export function usageHandlers({ spending, queries }: { spending: Spending; queries: SessionQueries }): UsageHandlers {
  return {
    getUsage: ({ query: { session, ...query } }, { reach }) =>
      spending.report({
        ...query,
        ...(session === undefined ? {} : { session: queries.resolve(session).id }),
        within: reach === undefined ? undefined : queries.descendants(reach),
      }),
  };
}
