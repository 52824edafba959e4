import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Time } from "../session/session.ts";
import { USAGE_BY } from "./enums.ts";
import { UsageReport } from "./usage.ts";

const timeZone = z.string().check(z.maxLength(100), z.refine(isTimeZone, "pass a time zone by its name: Europe/Berlin, UTC"));

export const USAGE_ENDPOINTS = {
  getUsage: {
    ...ROUTES.getUsage,
    answeredWithout: ["daemon"],
    summary: "Tokens and cost, including removed sessions. Turns without known usage are counted separately, never as 0.",
    scope: "observer",
    reach: "own",
    query: z.object({
      by: z._default(z.enum(USAGE_BY), "day"),
      since: z.optional(Time),
      /** Only usage of this session. */
      session: z.optional(z.string()),
      /** Time zone in which days begin. */
      timeZone: z._default(timeZone, "UTC"),
    }),
    reply: UsageReport,
    errors: ["session_not_found", "session_ambiguous", "usage"],
  },
} as const satisfies Record<string, Endpoint>;

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
