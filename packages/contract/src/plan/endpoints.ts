import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Declaration, NewDeclaration, Undeclared } from "./plan.ts";

export const PLAN_ENDPOINTS = {
  listDeclared: {
    ...ROUTES.listDeclared,
    summary: "The objects that `apply` created from a file, oldest first; only sessions that still exist.",
    scope: "observer",
    query: z.object({ file: z.string() }),
    reply: z.object({ declared: z.array(Declaration) }),
    errors: [],
  },
  declare: {
    ...ROUTES.declare,
    summary: "Records that a file declares an object, and its declaration, or a changed declaration.",
    scope: "driver",
    body: NewDeclaration,
    reply: Declaration,
    errors: ["session_not_found"],
  },
  forgetDeclared: {
    ...ROUTES.forgetDeclared,
    summary: "Records that an object of a file was removed.",
    scope: "driver",
    body: Undeclared,
    reply: z.object({}),
    errors: [],
  },
} as const satisfies Record<string, Endpoint>;
