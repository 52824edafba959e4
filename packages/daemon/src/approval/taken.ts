/** Whether an answer had an effect: by what the agent's own file says and its screen shows after it. Pure. */
import type { Attention, Evidence } from "@holdfast/contract";

export interface Reading {
  /** What its screen shows that it waits for; null: nothing. */
  shown: Attention | null;
  /** What its own file says, of one that keeps one. */
  file: Evidence | undefined;
}

/** True: it still waits for what was answered. False: it has gone on. Undefined: nothing tells yet. */
export function stillAsks({ shown, file }: Reading, answeredAt: string): boolean | undefined {
  // What it waits for since then is another request.
  if (file && file.at > answeredAt) return false;
  if (file?.claim.attention) return true;
  return shown?.for === "approval" || shown?.for === "question" ? true : undefined;
}
