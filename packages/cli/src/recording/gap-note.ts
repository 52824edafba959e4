import type { RecordingGap } from "@holdfast/contract/recording/endpoints";
import { formatBytes } from "../text/bytes.ts";
import { localTime } from "../text/local-time.ts";
import { plain } from "../text/plain.ts";

/** A note for people, on its own line in place of the output. */
export function gapNote(gap: RecordingGap): string {
  return `[… ${gapText(gap)} …]`;
}

export function gapText({ bytes, why, began }: RecordingGap): string {
  const size = bytes === null ? "output of unknown size" : formatBytes(bytes);
  const when = began === null ? "" : `, ${localTime(began)}`;
  return `${size} not recorded: ${plain(why)}${when}`;
}

/** Summarizes several gaps; some sizes may be unknown. */
export function gapSummary(gaps: readonly RecordingGap[]): string {
  const known = gaps.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  const unknown = gaps.some(({ bytes }) => bytes === null);
  const size = known === 0 ? "unknown size" : unknown ? `more than ${formatBytes(known)}` : formatBytes(known);
  return `${gaps.length === 1 ? "1 hole" : `${gaps.length} holes`} of ${size}`;
}
