/**
 * Reduces samples with little loss: the bytes of a dropped sample count as arriving with the next one, within the smallest possible tolerance.
 * Terminal sizes, clock steps and stretches without times stay exact, with the samples at their edges. So do the newest samples, which people ask
 * for most.
 */
import { type Sample, textOf } from "./sample.ts";

/** About twenty minutes of steady output. */
const NEWEST = 5000;
const FINEST_MS = 500;
/** Coarser times are useless. */
const COARSEST_MS = 3_600_000;

/** Limits the text to `bytes`, if possible. */
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
  // Times that go back mean that the clock was set.
  return before.at <= at && at <= next.at && next.at - before.at <= toleranceMs;
}
