/** Endpoints of recordings. */
import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Time } from "../session/session.ts";
import { flag, wholeNumber } from "../wire.ts";

export const TimeSample = z.object({
  /** The recording had `offset` bytes at this time (milliseconds since 1970); null: the time of these bytes is not known. */
  at: z.nullable(z.int()),
  offset: z.int(),
  /** Size of the terminal from here on. */
  columns: z.optional(z.int()),
  rows: z.optional(z.int()),
  /** Milliseconds by which the clock was set since the previous sample; forward is positive. */
  stepMs: z.optional(z.int()),
});
export type TimeSample = z.infer<typeof TimeSample>;

/** Output that was not recorded. The recording continues at `offset`, after the gap. */
export const RecordingGap = z.object({
  offset: z.int(),
  /** Null: not known. */
  bytes: z.nullable(z.int()),
  why: z.string(),
  /** Start of the gap; null: not known. */
  began: z.nullable(Time),
});
export type RecordingGap = z.infer<typeof RecordingGap>;

export const RECORDING_ENDPOINTS = {
  readOutput: {
    ...ROUTES.readOutput,
    answeredWithout: ["daemon", "configuration"],
    summary:
      "A run's recording as raw bytes from an offset; with `follow` until the run has ended. When the limit deletes bytes that a reader has not read yet, its stream ends, and another request from there is refused. With `untilGap` the stream ends before the first gap at or after this offset; getRecording names the gap.",
    scope: "observer",
    reach: "own",
    query: z.object({
      run: z.optional(wholeNumber),
      from: z.optional(wholeNumber),
      since: z.optional(wholeNumber),
      follow: flag,
      untilGap: z.optional(wholeNumber),
    }),
    reply: "bytes",
    errors: [...SESSION_ERRORS, "usage", "recording_cut"],
  },
  getRecording: {
    ...ROUTES.getRecording,
    answeredWithout: ["daemon", "configuration"],
    summary: "A run's recording: its first and last byte offset, and the terminal's sizes.",
    scope: "observer",
    reach: "own",
    query: z.object({ run: z.optional(wholeNumber), since: z.optional(wholeNumber), from: z.optional(wholeNumber) }),
    reply: z.object({
      /** The session's id, because its name may change while a client reads. */
      session: z.string(),
      run: z.int(),
      /** End of the recording: the total number of recorded bytes. */
      bytes: z.int(),
      /** Beginning of the recording: the number of deleted bytes. With `from`: the first kept byte at or after that offset. */
      begins: z.int(),
      /** Size above which the oldest output is deleted; null: everything is kept. */
      limitBytes: z.nullable(z.int()),
      /** Offset of the time `since` (milliseconds since 1970); 0 without it. May be before the beginning. */
      from: z.int(),
      sizes: z.array(z.object({ offset: z.int(), columns: z.int(), rows: z.int() })),
      /** Gaps in order, starting with the kept output. */
      gaps: z.array(RecordingGap),
      ended: z.boolean(),
      /** Time of the first sample, in milliseconds since 1970; null if no time is known. */
      startedAt: z.nullable(z.int()),
      /** Time from the first sample to the last, ignoring backward steps of the clock. */
      durationMs: z.int(),
    }),
    errors: [...SESSION_ERRORS, "usage"],
  },
  listTimes: {
    ...ROUTES.listTimes,
    answeredWithout: ["daemon", "configuration"],
    summary: "The time of each byte of a recording and the terminal's size, in pages.",
    scope: "observer",
    reach: "own",
    query: z.object({ run: z.optional(wholeNumber), after: z._default(wholeNumber, 0) }),
    reply: z.object({
      samples: z.array(TimeSample),
      /** The `after` of the next page. */
      next: z.int(),
      more: z.boolean(),
    }),
    errors: [...SESSION_ERRORS, "usage"],
  },
} as const satisfies Record<string, Endpoint>;
