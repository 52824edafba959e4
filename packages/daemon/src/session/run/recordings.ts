/** Recordings of a session's runs: their bytes, times and gaps. */
import { HoldfastError, hasEnded } from "@holdfast/contract";
import { type Home, runDirectory } from "@holdfast/platform";
import type { RunId } from "../../host/host.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { checkKept, firstGap, follow } from "../../record/follow.ts";
import { Recording } from "../../record/recording.ts";
import { Times } from "../../record/times.ts";
import type { Lifecycle } from "./lifecycle.ts";

export class Recordings {
  readonly #home: Home;
  readonly #queries: SessionQueries;
  readonly #lifecycle: Lifecycle;
  readonly #recordingLimit: number;

  constructor(options: { home: Home; queries: SessionQueries; lifecycle: Lifecycle; recordingLimit: number }) {
    this.#home = options.home;
    this.#queries = options.queries;
    this.#lifecycle = options.lifecycle;
    this.#recordingLimit = options.recordingLimit;
  }

  of(ref: string, options: { run?: number | undefined; since?: number | undefined; from?: number | undefined }) {
    const { record, run, recording } = this.#recorded(ref, options.run);
    // For a live run, reuse the times that have been read before.
    const times = this.#lifecycle.watchOf(run)?.times ?? new Times(recording.directory);
    const begins = recording.next(options.from ?? 0);
    return {
      session: record.id,
      run: run.run,
      bytes: recording.size(),
      begins,
      limitBytes: (record.recordingLimitBytes ?? this.#recordingLimit) || null,
      from: options.since === undefined ? 0 : times.offsetAt(options.since),
      sizes: times.sizes(),
      gaps: this.#lifecycle
        .gapsOf(run)
        .flatMap(({ at, ...gap }) => (gap.offset < begins ? [] : [{ ...gap, began: at === null ? null : new Date(at).toISOString() }])),
      ended: hasEnded(record.status) || run.run < record.run,
      ...times.span(),
    };
  }

  times(ref: string, options: { run?: number | undefined; after: number }) {
    const { samples, ...page } = new Times(this.#recorded(ref, options.run).recording.directory).page(options.after);
    return { ...page, samples: samples.map(({ at, offset, size, step }) => ({ at, offset, ...size, ...(step ? { stepMs: step } : {}) })) };
  }

  /** Raw output from an offset, or all that is kept; with `follow` until the run has ended, with `untilGap` until the first gap from there on. */
  output(
    ref: string,
    options: {
      run?: number | undefined;
      from?: number | undefined;
      follow: boolean;
      untilGap?: number | undefined;
      signal: AbortSignal;
    },
  ): AsyncGenerator<Buffer> {
    const { run, recording } = this.#recorded(ref, options.run);
    const offset = options.from ?? recording.begins();
    checkKept(recording, offset);
    const watch = () => (options.follow ? this.#lifecycle.watchOf(run) : undefined);
    const { untilGap, signal } = options;
    const nextGap = (from: number) => (untilGap === undefined ? undefined : firstGap(recording.directory, Math.max(untilGap, from)));
    return follow({ recording, offset, signal, watch, lives: () => options.follow && this.#lives(run), nextGap });
  }

  #lives({ session, run }: RunId): boolean {
    const record = this.#queries.get(session);
    return record !== undefined && record.run === run && !hasEnded(record.status);
  }

  #recorded(ref: string, wanted: number | undefined): { record: SessionRecord; run: RunId; recording: Recording } {
    const record = this.#queries.resolve(ref);
    const number = wanted ?? record.run;
    if (number < 1 || number > record.run) {
      throw new HoldfastError("usage", `${record.name} has no run ${number}`, { hint: `it has runs 1 to ${record.run}` });
    }
    return { record, run: { session: record.id, run: number }, recording: new Recording(runDirectory(this.#home, record.id, number)) };
  }
}
