/**
 * Fewer samples that say nearly the same: the bytes of a sample that goes count as come with the next one, later by at most a tolerance
 * that is as small as it can be. Sizes of the terminal, steps of the clock and stretches without times stay as exact as they were, with
 * the samples at their edges; so does the newest of the recording, which is what people ask for.
 */
import { type Sample, textOf } from "./sample.ts";

/** Some twenty minutes of steady output. */
const NEWEST = 5000;
const FINEST_MS = 500;
/** Coarser than this a time is of no use. */
const COARSEST_MS = 3_600_000;

/** In at most `bytes` of text, where that can be. */
export function thinned(samples: readonly Sample[], bytes: number): Sample[] {
  for (let toleranceMs = FINEST_MS; ; toleranceMs *= 2) {
    const kept = merged(samples, toleranceMs);
    if (toleranceMs >= COARSEST_MS || kept.reduce((sum, sample) => sum + textOf(sample).length, 0) <= bytes) return kept;
  }
}

function merged(samples: readonly Sample[], toleranceMs: number): Sample[] {
  const newest = samples.length - NEWEST;
  let before: Sample | undefined;
  return samples.filter((sample, index) => {
    const goes = index < newest && isBetween(before, sample, samples[index + 1], toleranceMs);
    if (!goes) before = sample;
    return !goes;
  });
}

function isBetween(before: Sample | undefined, { at, size, step }: Sample, next: Sample | undefined, toleranceMs: number): boolean {
  if (size || step || next?.step || at === null || typeof before?.at !== "number" || typeof next?.at !== "number") return false;
  // Times that go back are a clock that was set.
  return before.at <= at && at <= next.at && next.at - before.at <= toleranceMs;
}
