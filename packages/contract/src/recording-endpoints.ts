/** The endpoints of what the runs of a session have shown. */
import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "./endpoint.ts";
import { ROUTES } from "./routes.ts";
import { Time } from "./session.ts";
import { flag, wholeNumber } from "./wire.ts";

export const TimeSample = z.object({
  /** At this time (milliseconds since 1970) the recording had `offset` bytes; null: when the bytes up to there came is not known. */
  at: z.nullable(z.int()),
  offset: z.int(),
  /** The terminal's size from here on. */
  columns: z.optional(z.int()),
  rows: z.optional(z.int()),
  /** By so many milliseconds the clock was set since the sample before; forward is positive. */
  stepMs: z.optional(z.int()),
});
export type TimeSample = z.infer<typeof TimeSample>;

/** Output that was never recorded: the recording goes on at `offset` with what came after it. */
export const RecordingGap = z.object({
  offset: z.int(),
  /** Null: nobody knows. */
  bytes: z.nullable(z.int()),
  why: z.string(),
  /** When; null: nobody knows. */
  began: z.nullable(Time),
});
export type RecordingGap = z.infer<typeof RecordingGap>;

export const RECORDING_ENDPOINTS = {
  readOutput: {
    ...ROUTES.readOutput,
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
    summary: "A run's recording: its first and last byte offset, and the terminal's sizes.",
    scope: "observer",
    reach: "own",
    query: z.object({ run: z.optional(wholeNumber), since: z.optional(wholeNumber), from: z.optional(wholeNumber) }),
    reply: z.object({
      /** The session's id: its name may change while somebody reads. */
      session: z.string(),
      run: z.int(),
      /** Where it ends: how many bytes were recorded in all. */
      bytes: z.int(),
      /** Where it begins: how many of those have been deleted. With `from`: the first byte from there on that is kept. */
      begins: z.int(),
      /** Above it the oldest output is deleted; null: everything is kept. */
      limitBytes: z.nullable(z.int()),
      /** The offset at which `since` (milliseconds since 1970) falls; 0 without it. May lie before the beginning. */
      from: z.int(),
      sizes: z.array(z.object({ offset: z.int(), columns: z.int(), rows: z.int() })),
      /** In order, from the beginning of what is kept on. */
      gaps: z.array(RecordingGap),
      ended: z.boolean(),
      /** Of the first sample, in milliseconds since 1970; null when nothing has a time. */
      startedAt: z.nullable(z.int()),
      /** From the first sample to the last; a clock that was set back does not count. */
      durationMs: z.int(),
    }),
    errors: [...SESSION_ERRORS, "usage"],
  },
  listTimes: {
    ...ROUTES.listTimes,
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
