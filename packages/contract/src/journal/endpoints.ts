/** Endpoints that read the journal. */
import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "../endpoint.ts";
import { AnyEvent } from "../events.ts";
import { ROUTES } from "../routes.ts";
import { list, wholeNumber } from "../wire.ts";

const ERRORS = [...SESSION_ERRORS, "usage", "cursor_gone", "group_not_found"] as const;

const FOLLOWED = z.object({
  after: z.optional(z.string()),
  session: z.optional(z.string()),
  group: z.optional(z.string()),
  type: z.optional(list),
});

export const EVENT_ENDPOINTS = {
  listEvents: {
    ...ROUTES.listEvents,
    answeredWithout: ["daemon", "configuration"],
    summary:
      "Events after a cursor, at most `limit`: all, of one `session`, or of one `group` by its path. A session sees events of itself, its descendants and their groups.",
    scope: "observer",
    reach: "own",
    query: z.extend(FOLLOWED, { limit: z._default(wholeNumber, 1000) }),
    reply: z.object({ cursor: z.string(), events: z.array(AnyEvent), more: z.boolean() }),
    errors: ERRORS,
  },
  followEvents: {
    ...ROUTES.followEvents,
    answeredWithout: ["configuration"],
    summary: "Events after a cursor and new ones as they happen, as SSE. Pass the last `id` as cursor to continue.",
    scope: "observer",
    reach: "own",
    query: FOLLOWED,
    reply: "events",
    errors: ERRORS,
  },
  socketEvents: {
    ...ROUTES.socketEvents,
    answeredWithout: ["configuration"],
    summary:
      "The same as a WebSocket: each text frame is an event as JSON. A browser passes `holdfast` and `token.TOKEN` as protocols; never put TOKEN into a URL.",
    scope: "observer",
    reach: "own",
    query: FOLLOWED,
    reply: "socket",
    errors: ERRORS,
  },
} as const satisfies Record<string, Endpoint>;
