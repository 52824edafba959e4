/**
 * Follows the transcript of one live run: reads new entries from where it stopped, and returns each once. Entries up to `known`, which the journal
 * already has, are read again only to learn the state of the run.
 */
import type { Entry, SessionId } from "@holdfast/contract";
import type { RunId } from "../host/host.ts";
import type { TranscriptFile } from "../record/transcript.ts";
import { type Fact, Reading } from "./reading.ts";

export class Following {
  readonly session: SessionId;
  readonly file: TranscriptFile;
  readonly reading: Reading;
  /** Damage at the end of the file that was cut off and is not in the journal yet; the transcript may already mention it. */
  torn: { offset: number; bytes: number; isNoted?: boolean } | undefined;
  readonly #known: number;
  #offset = 0;

  constructor(options: { file: TranscriptFile; run: RunId; known: number }) {
    this.file = options.file;
    this.session = options.run.session;
    this.reading = new Reading(options.run.run);
    this.#known = options.known;
  }

  /** The `facts` of each new entry, in order; an entry counts as read when the caller asks for the next. */
  *next(): Generator<{ entry: Entry; facts: Fact[] }> {
    for (const read of this.file.read(this.#offset)) {
      if ("entry" in read) {
        const facts = this.reading.read(read.entry, read.end);
        if (read.end > this.#known) yield { entry: read.entry, facts };
      }
      this.#offset = read.end;
    }
  }
}
