/** Transcripts that were found damaged, of sessions that are still there. */
import { counted } from "@holdfast/platform";
import type { Check } from "./doctor.ts";

export interface DamagedTranscript {
  name: string;
  run: number;
  turns: number;
  aside: string | null;
}

export function transcripts(damaged: readonly DamagedTranscript[]): Check {
  if (damaged.length === 0) return { id: "transcripts", level: "ok", what: "no transcript is known to be damaged", remedy: null };
  const named = damaged.map(({ name, run, turns }) => `${name} (run ${run}, ${counted(turns, "turn")})`).join(", ");
  const aside = damaged.flatMap((each) => (each.aside === null ? [] : [each.aside])).join(", ");
  return {
    id: "transcripts",
    level: "warning",
    what: `turns were lost from transcripts and put back from the journal, without tools and thoughts: ${named}`,
    remedy:
      aside === ""
        ? "see what is left: holdfast transcript NAME"
        : `see what is left: holdfast transcript NAME; the damaged files: ${aside}`,
  };
}
