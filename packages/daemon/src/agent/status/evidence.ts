/** Collects evidence. Keeps, for each source and axis, the newest that makes a claim about the axis. */
import type { Claim, Evidence } from "@holdfast/contract";

export const AXES = ["turn", "attention", "background"] as const satisfies readonly (keyof Claim)[];

/** Adds `more` and drops evidence that it makes obsolete. */
export function withEvidence(all: readonly Evidence[], more: Evidence): Evidence[] {
  const kept = [...all, more];
  return kept.filter((one) => AXES.some((axis) => one.claim[axis] !== undefined && newestOf(kept, one.source, axis) === one));
}

/** Among evidence of the same time, the last. */
export function newestOf(all: readonly Evidence[], source: string, axis: keyof Claim): Evidence | undefined {
  let newest: Evidence | undefined;
  for (const evidence of all) {
    if (evidence.source !== source || evidence.claim[axis] === undefined) continue;
    if (!newest || evidence.at >= newest.at) newest = evidence;
  }
  return newest;
}
