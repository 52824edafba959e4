/**
 * Compares Holdfast's claims about an agent with the truth. A truth holds until the next truth, a claim until the next claim.
 *
 * right    the claim matched within LATE_MS and stayed until the truth ended
 * late     the same, but after LATE_MS
 * unknown  Holdfast claimed nothing but `unknown`
 * wrong    another claim lasted longer than LATE_MS, held at the end, or followed the right one
 *
 * A claim older than the previous truth is not about this one: after a turn that ends at once, the `idle` from before the turn may still stand.
 * A claim may come EARLY_MS before its truth: an agent's hook reports a prompt before the model gets it.
 */

/** A person takes anything older than this as wrong. */
export const LATE_MS = 500;
export const EARLY_MS = 2000;

export type Verdict = "right" | "late" | "unknown" | "wrong";
export const VERDICTS: readonly Verdict[] = ["right", "late", "unknown", "wrong"];

export interface Truth {
  at: number;
  is: string;
  /** The scenario that reached this truth. */
  state: string;
  /** The time of an action that ended this truth; without it, the truth held until the next one. */
  until?: number;
}

export interface Claim {
  at: number;
  /** Null means unknown. */
  says: string | null;
}

export interface Judged extends Truth {
  verdict: Verdict;
  /** From the truth to its claim; null if it was never claimed. */
  latencyMs: number | null;
  /** The claims during this truth, with milliseconds after its start. */
  said: string;
}

interface Stretch {
  from: number;
  to: number;
  says: string | null;
}

/** The last truth held at least until `end`. A truth shorter than LATE_MS is not judged. */
export function judge(truths: readonly Truth[], claims: readonly Claim[], end: number): Judged[] {
  const changes = claims.filter(({ says }, i) => says !== claims[i - 1]?.says);
  const stretches = changes.map(({ at, says }, i): Stretch => ({ from: at, to: changes[i + 1]?.at ?? end, says }));
  return truths.flatMap((truth, i) => {
    const next = truths[i + 1];
    const until = truth.until ?? next?.at ?? end;
    if (until - truth.at < LATE_MS) return [];
    const during = stretches.filter(({ from, to }) => to > truth.at && from < until).filter((one) => !isEarly(one, next));
    return [judgeOne(truth, withoutOlder(during, truths[i - 1]), until)];
  });
}

function isEarly({ from, to, says }: Stretch, next: Truth | undefined): boolean {
  return next !== undefined && says === next.is && from > next.at - EARLY_MS && to >= next.at;
}

/** Drops a claim from before the previous truth if the claim of that truth still followed. */
function withoutOlder(during: readonly Stretch[], previous: Truth | undefined): readonly Stretch[] {
  const [first, second] = during;
  const isOlder = previous !== undefined && first !== undefined && first.from < previous.at && second?.says === previous.is;
  return isOlder ? during.slice(1) : during;
}

function judgeOne(truth: Truth, during: readonly Stretch[], until: number): Judged {
  const said = during
    .map(({ from, says }) => `${says ?? "unknown"} ${from <= truth.at ? "before" : `+${Math.round(from - truth.at)} ms`}`)
    .join(", ");
  const first = during.findIndex(({ says }) => says === truth.is);
  const begun = during[first];
  const answer = (verdict: Verdict, latencyMs: number | null): Judged => ({ ...truth, verdict, latencyMs, said });
  const isWrong = ({ from, to, says }: Stretch) =>
    says !== null && says !== truth.is && Math.min(to, until) - Math.max(from, truth.at) > LATE_MS;
  if (begun === undefined) return answer(during.some(isWrong) ? "wrong" : "unknown", null);
  const latencyMs = Math.round(Math.max(0, begun.from - truth.at));
  const after = during.slice(first + 1);
  if (after.some(({ says }) => says !== truth.is))
    return answer(after.every(({ says }) => says === null || says === truth.is) ? "unknown" : "wrong", latencyMs);
  // An older claim that still stands makes this late. Another claim after the start of the truth makes it wrong.
  if (during.slice(0, first).some((one) => one.from > truth.at && isWrong(one))) return answer("wrong", latencyMs);
  return answer(latencyMs > LATE_MS ? "late" : "right", latencyMs);
}
