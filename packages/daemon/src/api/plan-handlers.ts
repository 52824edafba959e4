import type { Plans } from "../task/plans.ts";
import type { Handlers } from "./bind.ts";

export type PlanHandlers = Pick<Handlers, "listDeclared" | "declare" | "forgetDeclared">;

export function planHandlers(plans: Plans): PlanHandlers {
  return {
    listDeclared: ({ query }) => ({ declared: plans.list(query.file) }),
    declare: ({ body }, { actor }) => plans.declare(body, actor),
    forgetDeclared: ({ body }, { actor }) => {
      plans.forget(body, actor);
      return {};
    },
  };
}
