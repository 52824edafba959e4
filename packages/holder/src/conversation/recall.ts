/** For an agent that cannot continue a conversation itself: the first prompt of a run, preceded by the conversation of earlier runs. */
import { basename, dirname } from "node:path";
import { USUAL_CONTEXT } from "@holdfast/contract/agent/order";
import { KeptContext } from "../agents/context/kept.ts";
import { renderPrompt } from "../agents/context/prompt.ts";
import { bytesOf } from "../agents/context/tokens.ts";
import { readTold } from "../agents/context/transcripts.ts";

export interface Recalled {
  words: string;
  /** Describes the omitted turns to people; null: none is omitted. */
  leftOut: string | null;
}

export async function recall(runDirectory: string, words: string): Promise<Recalled> {
  const { turns } = await readTold({ runs: dirname(runDirectory), before: Number(basename(runDirectory)) });
  const context = new KeptContext(USUAL_CONTEXT, turns);
  const kept = context.keep(context.gauge.tokens(bytesOf(words)));
  const { leftOut } = kept;
  return {
    words: renderPrompt({ prompt: words, system: null, kept }),
    leftOut: leftOut === null ? null : `${turnsOf(leftOut)} omitted from the agent's context; the transcript has everything`,
  };
}

function turnsOf({ from, to }: { from: number; to: number }): string {
  return from === to ? `turn ${from} is` : `turns ${from} to ${to} are`;
}
