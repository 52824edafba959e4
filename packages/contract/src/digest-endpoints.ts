import * as z from "zod/mini";
import { CommitHash, Digest, LastReply } from "./digest.ts";
import type { Endpoint } from "./endpoint.ts";
import { ROUTES } from "./routes.ts";
import { Session, Time } from "./session.ts";
import { flag } from "./wire.ts";

const ERRORS = ["session_not_found", "session_ambiguous"] as const;

export const DIGEST_ENDPOINTS = {
  getDigest: {
    ...ROUTES.getDigest,
    summary:
      "What happened in a session since who asks last looked at it, or since `since`; `brief` leaves out which files were changed, `again` tells once more what was new at that look.",
    scope: "observer",
    reach: "own",
    query: z.object({ since: z.optional(Time), brief: flag, again: flag }),
    reply: Digest,
    errors: ERRORS,
  },
  listDigests: {
    ...ROUTES.listDigests,
    summary: "The same of each session that has news or waits for a person: those that wait first, then the newest news.",
    scope: "observer",
    reach: "own",
    query: z.object({
      since: z.optional(Time),
      limit: z._default(z.pipe(z.string().check(z.regex(/^\d{1,4}$/)), z.transform(Number)), 50),
    }),
    /** `more`: how many others there are. */
    reply: z.object({ digests: z.array(Digest), more: z.int() }),
    errors: [],
  },
  lookAtSession: {
    ...ROUTES.lookAtSession,
    summary: "Says that who asks has looked at a session, up to that place in the journal; recorded at most once a minute.",
    scope: "observer",
    reach: "own",
    /** Both as a digest says them; left out, as they are now. */
    body: z.object({ upTo: z.optional(z.int()), head: z.optional(z.nullable(CommitHash)) }),
    reply: Session,
    errors: ERRORS,
  },
  getLastReply: {
    ...ROUTES.getLastReply,
    summary: "What the session's agent said last, at the end of a turn.",
    scope: "observer",
    reach: "own",
    reply: LastReply,
    errors: [...ERRORS, "reply_unknown"],
  },
} as const satisfies Record<string, Endpoint>;
