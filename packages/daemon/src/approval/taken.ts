/** Detects from the agent's own file and its screen whether an answer had an effect. Pure. */
import type { Attention, Evidence } from "@holdfast/contract";

export interface Reading {
  /** The wait that its screen shows; null if none. */
  shown: Attention | null;
  /** Evidence from the agent's own state file, if it keeps one. */
  file: Evidence | undefined;
}

/** True if the agent still waits for the answered request, false if it has continued, undefined without evidence. */
export function stillAsks({ shown, file }: Reading, answeredAt: string): boolean | undefined {
  // A wait that began after the answer belongs to another request.
  if (file && file.at > answeredAt) return false;
  if (file?.claim.attention) return true;
  return shown?.for === "approval" || shown?.for === "question" ? true : undefined;
}
