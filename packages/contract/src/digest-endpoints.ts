import * as z from "zod/mini";
import { CommitHash, Digest, LastReply } from "./digest.ts";
import type { Endpoint } from "./endpoint.ts";
import { ROUTES } from "./routes.ts";
import { Session, Time } from "./session.ts";
import { flag, wholeNumber } from "./wire.ts";

const ERRORS = ["session_not_found", "session_ambiguous"] as const;

/** `files` are none where nobody knows where the agent writes, or it wrote nothing. Offsets are those of all files one after the other. */
export const AgentTranscript = z.object({
  session: z.string(),
  files: z.array(z.string()),
  text: z.string(),
  from: z.int(),
  /** Where it goes on. */
  next: z.int(),
  bytes: z.int(),
});
export type AgentTranscript = z.infer<typeof AgentTranscript>;

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
  readAgentTranscript: {
    ...ROUTES.readAgentTranscript,
    summary:
      "A piece of what the session's agent itself wrote down of the conversation, in its own format, from an offset in bytes on. Whole lines, where they fit into `limit` bytes.",
    scope: "observer",
    reach: "own",
    query: z.object({ from: z._default(wholeNumber, 0), limit: z._default(wholeNumber, 65_536) }),
    reply: AgentTranscript,
    errors: ERRORS,
  },
} as const satisfies Record<string, Endpoint>;
