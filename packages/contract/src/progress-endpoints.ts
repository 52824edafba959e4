import * as z from "zod/mini";
import type { Endpoint } from "./endpoint.ts";
import { ROUTES } from "./routes.ts";
import { Session } from "./session.ts";

const amount = z.optional(z.number().check(z.nonnegative("how far it is has no negative number")));

export const PROGRESS_ENDPOINTS = {
  reportProgress: {
    ...ROUTES.reportProgress,
    summary: "Says how far a session's agent is: what it does now, and how much of how much is done.",
    scope: "driver",
    reach: "own",
    body: z.object({
      text: z.string().check(z.minLength(1, "progress has words"), z.maxLength(2000, "a word on progress has at most 2,000 characters")),
      done: amount,
      total: amount,
    }),
    reply: Session,
    errors: ["session_not_found", "session_ambiguous", "session_ended"],
  },
} as const satisfies Record<string, Endpoint>;
