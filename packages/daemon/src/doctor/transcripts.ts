/** Reports damaged transcripts of existing sessions. */
import { counted } from "@holdfast/platform";
import type { Check } from "./check.ts";

export interface DamagedTranscript {
  name: string;
  run: number;
  turns: number;
  aside: string | null;
}

export function transcripts(damaged: readonly DamagedTranscript[]): Check {
  if (damaged.length === 0) return { id: "transcripts", level: "ok", what: "no transcript is damaged", remedy: null };
  const named = damaged.map(({ name, run, turns }) => `${name} (run ${run}, ${counted(turns, "turn")})`).join(", ");
  const aside = damaged.flatMap((each) => (each.aside === null ? [] : [each.aside])).join(", ");
  return {
    id: "transcripts",
    level: "warning",
    what: `damaged transcripts lost turns; the journal restored their text, without tools and thoughts: ${named}`,
    remedy:
      aside === ""
        ? "read the rest: holdfast transcript NAME"
        : `read the rest: holdfast transcript NAME; the damaged files are in ${aside}`,
  };
}
