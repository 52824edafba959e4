import * as z from "zod/mini";
import type { Endpoint } from "./endpoint.ts";
import { Declaration, NewDeclaration, Undeclared } from "./plan.ts";
import { ROUTES } from "./routes.ts";

export const PLAN_ENDPOINTS = {
  listDeclared: {
    ...ROUTES.listDeclared,
    summary: "What was made of a file by `apply`, oldest first; of sessions those that are there.",
    scope: "observer",
    query: z.object({ file: z.string() }),
    reply: z.object({ declared: z.array(Declaration) }),
    errors: [],
  },
  declare: {
    ...ROUTES.declare,
    summary: "Says that a file declares something, and how, or that it says something else of it now.",
    scope: "driver",
    body: NewDeclaration,
    reply: Declaration,
    errors: ["session_not_found"],
  },
  forgetDeclared: {
    ...ROUTES.forgetDeclared,
    summary: "Says that what a file declared was taken away.",
    scope: "driver",
    body: Undeclared,
    reply: z.object({}),
    errors: [],
  },
} as const satisfies Record<string, Endpoint>;
