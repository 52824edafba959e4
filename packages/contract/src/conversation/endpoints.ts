import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Session } from "../session/session.ts";
import { CANCEL_OUTCOMES, CANCEL_STEPS } from "./enums.ts";
import { Entry, Settings } from "./transcript.ts";

const word = z.string().check(z.maxLength(10_000, "a mode or a model has at most 10,000 characters"));

const ERRORS = ["session_not_found", "session_ambiguous", "not_a_conversation"] as const;

/** `RUN.OFFSET`: a position in a session's transcripts, after an entry. */
export const TranscriptCursor = z.string().check(z.regex(/^\d{1,9}\.\d{1,15}$/, "a transcript's cursor is RUN.OFFSET"));

const wholeNumber = z.pipe(z.string().check(z.regex(/^[1-9]\d{0,5}$/)), z.transform(Number));

/** An entry with its run and the cursor after it. */
export const PlacedEntry = z.object({ run: z.int(), cursor: z.string(), entry: Entry });
export type PlacedEntry = z.infer<typeof PlacedEntry>;

/** `turn` is the current turn. `settings`: the available choices; null while the agent is not running. */
export const Conversation = z.object({
  session: Session,
  turn: z.nullable(z.string()),
  settings: z.nullable(Settings),
  /** Current end of the transcript. */
  cursor: z.string(),
});
export type Conversation = z.infer<typeof Conversation>;

export const CONVERSATION_ENDPOINTS = {
  readTranscript: {
    ...ROUTES.readTranscript,
    summary:
      "A part of a conversation's transcript: entries after a cursor, its last `turns` turns, or a page of 20 turns counted from the oldest. `more` is set if entries follow.",
    scope: "observer",
    reach: "own",
    query: z.object({
      after: z.optional(TranscriptCursor),
      turns: z.optional(wholeNumber),
      page: z.optional(wholeNumber),
      limit: z.optional(wholeNumber),
    }),
    reply: z.object({
      session: Session,
      entries: z.array(PlacedEntry),
      cursor: z.string(),
      more: z.boolean(),
      /** Number of pages, if a page was requested. */
      pages: z.nullable(z.int()),
      /** Number of unreadable lines. */
      damaged: z.int(),
    }),
    errors: [...ERRORS, "usage"],
  },
  followTranscript: {
    ...ROUTES.followTranscript,
    summary: "A conversation's entries as they are written, from a cursor until it ends. Pass the last id as cursor to continue.",
    scope: "observer",
    reach: "own",
    query: z.object({ after: z.optional(TranscriptCursor) }),
    reply: "entries",
    errors: [...ERRORS, "usage"],
  },
  getConversation: {
    ...ROUTES.getConversation,
    summary: "The state of a conversation's turn, and the settings of its next turn.",
    scope: "observer",
    reach: "own",
    reply: Conversation,
    errors: ERRORS,
  },
  setConversation: {
    ...ROUTES.setConversation,
    summary:
      "Sets the mode or the model of a conversation's next turns, if the agent supports it. A session may do that for its children, not for itself: a mode may skip approvals.",
    scope: "driver",
    reach: "children",
    body: z.object({ mode: z.optional(word), model: z.optional(word) }),
    reply: Conversation,
    errors: [...ERRORS, "session_ended", "not_offered", "usage", "host_failed"],
  },
  clearConversation: {
    ...ROUTES.clearConversation,
    summary: "Clears the agent's memory; the transcript does not change.",
    scope: "driver",
    reach: "own",
    body: z.object({}),
    reply: Conversation,
    errors: [...ERRORS, "session_ended", "turn_runs", "host_failed"],
  },
  cancelTurn: {
    ...ROUTES.cancelTurn,
    summary:
      "Interrupts the current turn; its output so far stays. `cancelled` is true if a turn was running. Replies when the turn has ended; an agent that ignores every attempt is an error, with `details.steps`.",
    scope: "driver",
    reach: "own",
    /** Time for the turn to end after each step; 0 takes one step and does not wait. */
    body: z.object({ waitMs: z._default(z.int().check(z.minimum(0), z.maximum(60_000)), 6000) }),
    reply: z.object({ session: Session, cancelled: z.boolean(), outcome: z.enum(CANCEL_OUTCOMES), steps: z.array(z.enum(CANCEL_STEPS)) }),
    errors: ["session_not_found", "session_ambiguous", "session_ended", "not_offered", "status_unknown", "cancel_ignored", "host_failed"],
  },
} as const satisfies Record<string, Endpoint>;
