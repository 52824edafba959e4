import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Session, Time } from "../session/session.ts";
import { flag, wholeNumber } from "../wire.ts";
import { CommitHash, Digest, LastReply } from "./digest.ts";

const ERRORS = ["session_not_found", "session_ambiguous"] as const;

/** `files` is empty if the agent's files are not known, or if it wrote none. Offsets count over all files in sequence. */
export const AgentTranscript = z.object({
  session: z.string(),
  files: z.array(z.string()),
  text: z.string(),
  from: z.int(),
  /** Offset of the next part. */
  next: z.int(),
  bytes: z.int(),
});
export type AgentTranscript = z.infer<typeof AgentTranscript>;

export const DIGEST_ENDPOINTS = {
  viewSession: {
    ...ROUTES.viewSession,
    answeredWithout: ["configuration"],
    summary: "Records that somebody viewed a session. The first view after its end allows pruning it.",
    scope: "observer",
    reach: "own",
    body: z.object({}),
    reply: Session,
    errors: ERRORS,
  },
  getDigest: {
    ...ROUTES.getDigest,
    answeredWithout: ["daemon"],
    summary:
      "The news of a session since the caller last viewed it, or since `since`. `brief` leaves out the changed files; `again` repeats the news of the last view.",
    scope: "observer",
    reach: "own",
    query: z.object({ since: z.optional(Time), brief: flag, again: flag }),
    reply: Digest,
    errors: ERRORS,
  },
  listDigests: {
    ...ROUTES.listDigests,
    answeredWithout: ["daemon"],
    summary: "The news of every session that has some or waits for a person: waiting sessions first, then the newest.",
    scope: "observer",
    reach: "own",
    query: z.object({
      since: z.optional(Time),
      limit: z._default(z.pipe(z.string().check(z.regex(/^\d{1,4}$/)), z.transform(Number)), 50),
    }),
    /** `more`: number of digests beyond the limit. */
    reply: z.object({ digests: z.array(Digest), more: z.int() }),
    errors: [],
  },
  lookAtSession: {
    ...ROUTES.lookAtSession,
    summary: "Records that the caller viewed a session up to that cursor, at most once a minute.",
    scope: "observer",
    reach: "own",
    /** Both values come from a digest; by default the current ones are used. */
    body: z.object({ upTo: z.optional(z.int()), head: z.optional(z.nullable(CommitHash)) }),
    reply: Session,
    errors: ERRORS,
  },
  getLastReply: {
    ...ROUTES.getLastReply,
    answeredWithout: ["daemon"],
    summary: "The last answer of the session's agent, at the end of a turn.",
    scope: "observer",
    reach: "own",
    reply: LastReply,
    errors: [...ERRORS, "reply_unknown"],
  },
  readAgentTranscript: {
    ...ROUTES.readAgentTranscript,
    summary:
      "A part of the agent's own conversation file, in its own format, from a byte offset on. Ends at a line end where a line fits into `limit` bytes.",
    scope: "observer",
    reach: "own",
    query: z.object({ from: z._default(wholeNumber, 0), limit: z._default(wholeNumber, 65_536) }),
    reply: AgentTranscript,
    errors: ERRORS,
  },
} as const satisfies Record<string, Endpoint>;
