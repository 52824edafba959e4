/** The transcripts of a session's runs, read as one. */
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError, hasEnded, type PlacedEntry } from "@holdfast/contract";
import { type Home, runDirectory } from "@holdfast/platform";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { TranscriptFile } from "../record/transcript.ts";

/** Keepalive interval, for proxies and clients that drop a silent stream. */
const ALIVE_MS = 15_000;

/** Turns per page. */
export const PAGE_TURNS = 20;

const ENTRIES = 1000;

/** Before a run is watched there is no change to wait for. */
const STARTING_MS = 50;

interface Place {
  run: number;
  offset: number;
}

/** Resolves when a run may have more to read; undefined if it is not live. */
export type Changed = (run: { session: SessionRecord["id"]; run: number }, signal: AbortSignal) => Promise<void> | undefined;

export type Mend = (record: SessionRecord, how: { isDoubted: boolean }) => void;

export class Transcripts {
  readonly #home: Home;
  readonly #queries: SessionQueries;
  readonly #changed: Changed;
  readonly #mend: Mend;

  /** `mend` repairs damage before the transcript is read. */
  constructor(options: { home: Home; queries: SessionQueries; changed: Changed; mend?: Mend }) {
    this.#home = options.home;
    this.#queries = options.queries;
    this.#changed = options.changed;
    this.#mend = options.mend ?? (() => {});
  }

  /** Refuses a session without a transcript. */
  resolve(ref: string): SessionRecord {
    const record = this.#queries.resolve(ref);
    if (record.kind === "conversation") return record;
    throw new HoldfastError("not_a_conversation", `${record.name} is a ${record.kind} session: it has a recording and no transcript`, {
      hint: `read its output: holdfast logs ${record.name}`,
    });
  }

  read(record: SessionRecord, how: Parameters<Transcripts["readOnce"]>[1]): ReturnType<Transcripts["readOnce"]> {
    this.#mend(record, { isDoubted: false });
    const read = this.readOnce(record, how);
    if (read.damaged === 0) return read;
    this.#mend(record, { isDoubted: true });
    return this.readOnce(record, how);
  }

  readOnce(
    record: SessionRecord,
    how: { after?: string | undefined; turns?: number | undefined; page?: number | undefined; limit?: number | undefined },
  ): { entries: PlacedEntry[]; cursor: string; more: boolean; pages: number | null; damaged: number } {
    const piece = this.#piece(record, how);
    const limit = how.limit ?? (piece.until || how.turns ? Number.POSITIVE_INFINITY : ENTRIES);
    const entries: PlacedEntry[] = [];
    let damaged = 0;
    let cursor = piece.from;
    for (const { run, read } of this.#all(record, piece.from)) {
      if (piece.until && !isBefore({ run, offset: read.end }, piece.until)) return done(true);
      if (entries.length === limit) return done(true);
      cursor = { run, offset: read.end };
      if ("entry" in read) entries.push({ run, cursor: formatPlace(cursor), entry: read.entry });
      else damaged++;
    }
    return done(false);

    function done(more: boolean) {
      return { entries, cursor: formatPlace(cursor), more, pages: piece.pages, damaged };
    }
  }

  /** Its current end. */
  end(record: SessionRecord): string {
    return formatPlace({ run: record.run, offset: this.#file(record, record.run).size() });
  }

  /** Entries as they arrive, until the session has ended and all were returned; undefined is a keepalive. */
  async *follow(
    ref: string,
    { after, signal }: { after?: string | undefined; signal: AbortSignal },
  ): AsyncGenerator<PlacedEntry | undefined> {
    const followed = this.resolve(ref);
    this.#mend(followed, { isDoubted: false });
    const { id } = followed;
    let place: Place = after === undefined ? { run: 1, offset: 0 } : parsePlace(after);
    while (!signal.aborted) {
      const record = this.#queries.get(id);
      if (!record) return;
      const quiet = AbortSignal.timeout(ALIVE_MS);
      // Ask before reading, so that a change in between is noticed.
      const changed =
        place.run === record.run ? this.#changed({ session: id, run: place.run }, AbortSignal.any([signal, quiet])) : undefined;
      for (const read of this.#file(record, place.run).read(place.offset)) {
        if (signal.aborted) return;
        place = { run: place.run, offset: read.end };
        if ("entry" in read) yield { run: place.run, cursor: formatPlace(place), entry: read.entry };
      }
      if (place.run < record.run) place = { run: place.run + 1, offset: 0 };
      else if (changed) await changed;
      else if (hasEnded(record.status)) return;
      else await delay(STARTING_MS);
      if (quiet.aborted) yield undefined;
    }
  }

  #piece(record: SessionRecord, { after, turns, page }: Parameters<Transcripts["read"]>[1]) {
    const from = after === undefined ? { run: 1, offset: 0 } : parsePlace(after);
    if (turns === undefined && page === undefined) return { from, until: undefined, pages: null };
    const begins = this.#turns(record);
    if (turns !== undefined) return { from: begins.at(-turns) ?? { run: 1, offset: 0 }, until: undefined, pages: null };
    const pages = Math.max(1, Math.ceil(begins.length / PAGE_TURNS));
    const wanted = page ?? 1;
    if (wanted > pages) {
      throw new HoldfastError("usage", `${record.name} has ${pages === 1 ? "one page" : `${pages} pages`}, not ${wanted}`);
    }
    const first = wanted === 1 ? { run: 1, offset: 0 } : (begins[(wanted - 1) * PAGE_TURNS] ?? from);
    return { from: first, until: begins[wanted * PAGE_TURNS], pages };
  }

  /** Where each turn begins. */
  #turns(record: SessionRecord): Place[] {
    const begins: Place[] = [];
    let before: Place = { run: 1, offset: 0 };
    for (const { run, read } of this.#all(record, before)) {
      if (run !== before.run) before = { run, offset: 0 };
      if ("entry" in read && read.entry.type === "user" && read.entry.turn === read.entry.message) begins.push(before);
      before = { run, offset: read.end };
    }
    return begins;
  }

  *#all(record: SessionRecord, from: Place) {
    for (let run = from.run; run <= record.run; run++) {
      for (const read of this.#file(record, run).read(run === from.run ? from.offset : 0)) yield { run, read };
    }
  }

  #file({ id }: SessionRecord, run: number): TranscriptFile {
    return new TranscriptFile(runDirectory(this.#home, id, run));
  }
}

function formatPlace({ run, offset }: Place): string {
  return `${run}.${offset}`;
}

function parsePlace(cursor: string): Place {
  const [run = "1", offset = "0"] = cursor.split(".");
  return { run: Math.max(1, Number(run)), offset: Number(offset) };
}

/** True if the entry that ends at `end` is before the place. */
function isBefore(end: Place, place: Place): boolean {
  return end.run < place.run || (end.run === place.run && end.offset <= place.offset);
}
