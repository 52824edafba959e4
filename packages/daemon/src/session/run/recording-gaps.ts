/**
 * Turns gaps in recordings into events. The source of truth is the run's `gaps` file, which is written by whoever noticed the gap. It is compared
 * with the journal, so that each gap gets one event, whichever daemon writes it; on a full disk, later.
 */
import type { EventData } from "@holdfast/contract";
import { describe, type Gap, type Home, log, readGaps, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import { type RunId, runMarker } from "../../host/host.ts";
import type { Draft, Journal } from "../../journal/journal.ts";

/** More gaps than a session can have: one for each time a disk filled up. */
const MOST_GAPS = 100_000;

export class RecordingGaps {
  readonly #home: Home;
  readonly #journal: Journal;
  /** For each run, the offsets of gaps that are in the journal; read on first use. */
  readonly #told = new Map<string, Set<number>>();
  /** Runs with gaps that the journal could not take. */
  readonly #untold = new Map<string, RunId>();

  constructor(options: { home: Home; journal: Journal }) {
    this.#home = options.home;
    this.#journal = options.journal;
  }

  tell(run: RunId): void {
    try {
      const gaps = this.untold(run);
      if (gaps.length > 0) this.#journal.append(...gaps);
      for (const { data } of gaps) this.#told.get(runMarker(run))?.add(data.offset);
      this.#untold.delete(runMarker(run));
    } catch (error) {
      this.#untold.set(runMarker(run), run);
      log(`session ${run.session}: a gap in its recording could not be saved yet: ${describe(error)}`);
    }
  }

  /** Retries gaps whose write failed. */
  tellAgain(): void {
    for (const run of this.#untold.values()) this.tell(run);
  }

  /** Gaps that the run's file has and the journal does not. */
  untold(run: RunId): (Draft & { type: "recording.gap" })[] {
    const gaps = readGaps(runDirectory(this.#home, run.session, run.run));
    if (gaps.length === 0) return [];
    const told = this.#told.get(runMarker(run)) ?? this.#toldBefore(run);
    this.#told.set(runMarker(run), told);
    return gaps
      .filter(({ offset }) => !told.has(offset))
      .map(({ at, ...gap }) => {
        const data = { run: run.run, ...gap, ...(at === null ? {} : { began: new Date(at).toISOString() }) };
        return { type: "recording.gap", actor: DAEMON, session: run.session, data };
      });
  }

  /** All gaps of a run, in order: from its file, and from events whose line in the file is lost. */
  all(run: RunId): Gap[] {
    const gaps = new Map(this.#events(run).map((gap) => [gap.offset, gap]));
    for (const gap of readGaps(runDirectory(this.#home, run.session, run.run))) gaps.set(gap.offset, gap);
    return [...gaps.values()].sort((a, b) => a.offset - b.offset);
  }

  /** Called when the run has ended and all its gaps are in the journal. */
  forget(run: RunId): void {
    this.#told.delete(runMarker(run));
    this.#untold.delete(runMarker(run));
  }

  #toldBefore(run: RunId): Set<number> {
    return new Set(this.#events(run).map(({ offset }) => offset));
  }

  #events(run: RunId): Gap[] {
    const events = this.#journal.readAfter(0, MOST_GAPS, { session: run.session, types: ["recording.gap"] });
    return events.flatMap((event) => {
      const { run: number, began, ...gap } = event.data as EventData<"recording.gap">;
      return number === run.run ? [{ ...gap, at: began === undefined ? null : Date.parse(began) }] : [];
    });
  }
}
