import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Session } from "./session.ts";

const amount = z.optional(z.number().check(z.nonnegative("a progress number cannot be negative")));

export const PROGRESS_ENDPOINTS = {
  reportProgress: {
    ...ROUTES.reportProgress,
    summary: "Reports a session's progress: its current activity, and the completed share.",
    scope: "driver",
    reach: "own",
    body: z.object({
      text: z.string().check(z.minLength(1, "progress needs a text"), z.maxLength(2000, "a progress text has at most 2,000 characters")),
      done: amount,
      total: amount,
    }),
    reply: Session,
    errors: ["session_not_found", "session_ambiguous", "session_ended"],
  },
} as const satisfies Record<string, Endpoint>;
