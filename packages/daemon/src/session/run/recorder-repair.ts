/**
 * Replaces a recorder that died, as soon as the disk can be written. If the run ends before that, its recording has a gap at its end. The gap is in
 * the run's `gaps` file before the new recorder writes: if the daemon dies in between, the next one finds it there.
 */
import { appendGap, describe, log, readGaps, whyUnwritable } from "@holdfast/platform";
import { type Host, type RecorderEnd, type RunId, runMarker } from "../../host/host.ts";
import type { Reserve } from "../../journal/reserve.ts";
import type { Recording } from "../../record/recording.ts";

const REASONS: Readonly<Record<string, string>> = { disk_full: "the disk was full", home_read_only: "the disk was read-only" };

export class RecorderRepair {
  readonly #reserve: Reserve;
  /** Why recorders could not be replaced at once: most likely also why they ended, if they did not say so. */
  readonly #troubles = new Map<string, RecorderEnd>();

  constructor(reserve: Reserve) {
    this.#reserve = reserve;
  }

  /** False on failure. Not tried on a full disk: a recorder that cannot write ends at once. */
  async replace(host: Host, run: RunId, recording: Recording): Promise<boolean> {
    const marker = runMarker(run);
    const trouble = whyUnwritable(recording.directory);
    if (trouble) {
      if (!this.#troubles.has(marker)) this.#troubles.set(marker, { why: REASONS[trouble.code] ?? null, at: Date.now() });
      return false;
    }
    const end = await host.recorderEnd(run);
    noteGap(recording, end?.why ? end : this.#troubles.get(marker));
    this.#troubles.delete(marker);
    return host.reopenRecording(run, recording.nextPrefix());
  }

  /** The run has ended, and its recorder ended before it. A failed write does not delay the end. */
  noteAtEnd(run: RunId, recording: Recording, end: RecorderEnd | undefined): void {
    const trouble = this.#troubles.get(runMarker(run));
    this.#troubles.delete(runMarker(run));
    if (!end) return;
    try {
      this.#reserve.spend(() => noteGap(recording, end.why ? end : trouble));
    } catch (error) {
      log(`a gap at the end of ${recording.directory} could not be saved: ${describe(error)}`);
    }
  }
}

/** Notes a gap at the current end of the recording, once per offset. */
function noteGap(recording: Recording, end: RecorderEnd | undefined): void {
  const offset = recording.size();
  if (readGaps(recording.directory).some((gap) => gap.offset === offset)) return;
  appendGap(recording.directory, { offset, bytes: null, why: end?.why ?? "the recorder had ended", at: end?.at ?? null });
}
