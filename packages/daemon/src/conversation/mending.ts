/**
 * Checks that the transcripts of ended runs are as the journal remembers them: at least as long, with an entry that ends where the last known one
 * did. A transcript that was emptied, cut, replaced or deleted is set aside, and replaced by its readable lines and the turns that the journal knows.
 * The transcript of a live run belongs to its keeper.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { type AnyEvent, type HoldfastEvent, hasEnded, type SessionId } from "@holdfast/contract";
import { counted, describe, type Home, log, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Journal } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { TranscriptFile } from "../record/transcript.ts";
import { knownTurns, lostOf, TURN_EVENTS, withLost } from "./lost-turns.ts";

const MOST_EVENTS = 100_000;

export class TranscriptMending {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  /** Files that look wrong but have lost nothing: by path, with their size at that time. */
  readonly #sound = new Map<string, number>();

  constructor(options: { home: Home; journal: Journal; queries: SessionQueries }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
  }

  /** Checks all sessions of this home, one at a time. */
  async begin(signal: AbortSignal): Promise<void> {
    for (const { id } of this.#queries.select({ all: true })) {
      const record = this.#queries.get(id);
      if (record) this.tryToMend(record);
      await turn();
      if (signal.aborted) return;
    }
  }

  /** Transcripts of existing sessions that lost turns, newest first. */
  damaged(): { name: string; run: number; turns: number; aside: string | null }[] {
    const events = this.#journal.readAfter(0, MOST_EVENTS, { types: ["transcript.damaged"] }) as Extract<
      HoldfastEvent,
      { type: "transcript.damaged" }
    >[];
    return events.toReversed().flatMap(({ session, data: { run, turns = 0, aside } }) => {
      const name = session === null ? undefined : this.#queries.get(session)?.name;
      return name === undefined || turns === 0 ? [] : [{ name, run, turns, aside }];
    });
  }

  /** Never throws: readers get what exists, even if nothing can be written. */
  tryToMend(record: SessionRecord, how: { isDoubted: boolean } = { isDoubted: false }): void {
    try {
      this.#mend(record, how);
    } catch (error) {
      log(`session ${record.id}: its transcript is damaged and cannot be repaired yet: ${describe(error)}`);
    }
  }

  /** `isDoubted`: some of its lines could not be read. */
  #mend(record: SessionRecord, { isDoubted }: { isDoubted: boolean }): void {
    if (record.kind !== "conversation") return;
    for (const [run, offset] of this.#queries.transcriptOffsets(record.id)) {
      if (run === record.run && !hasEnded(record.status)) continue;
      const directory = runDirectory(this.#home, record.id, run);
      // If the whole run directory is gone, there is no place for a transcript.
      if (!existsSync(directory)) continue;
      const file = new TranscriptFile(directory);
      if ((!isDoubted && file.endsAt(offset)) || this.#sound.get(file.path) === file.size()) continue;
      this.#restore(record.id, { run, offset, file });
    }
  }

  #restore(session: SessionId, { run, offset, file }: { run: number; offset: number; file: TranscriptFile }): void {
    const size = file.size();
    const events = this.#journal.readAfter(0, MOST_EVENTS, { session, types: [...TURN_EVENTS] });
    const turns = knownTurns(events as AnyEvent[], run);
    const { good, damaged } = file.lines();
    const lost = lostOf(turns, good);
    if (lost.length === 0 && damaged === 0) return void this.#sound.set(file.path, size);
    const what = size === 0 ? (file.isThere() ? "is empty" : "is missing") : size < offset ? "is shorter than it was" : "was changed";
    const note = `the transcript of run ${run} ${what}: ${counted(lost.length, "turn")} restored from the journal, without tools and thoughts`;
    const aside = file.replace(join(this.#home.path, "damaged"), withLost(good, { turns, lost, note }));
    const data = { run, offset: Math.min(size, offset), lines: damaged, aside, bytes: file.size(), turns: lost.length, what };
    this.#journal.append({ type: "transcript.damaged", actor: DAEMON, session, data });
    log(`session ${session}: ${note}`);
  }
}
