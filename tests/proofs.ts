import type { Issue, Requirement } from "./requirements.ts";

/** The parts a test's title names at its end: `… (SYM-02 spine, BG-03 spine)`. */
export function proofsIn(title: string): string[] {
  const list = /\(([A-Z]+-\d{2} [a-z]+(?:, [A-Z]+-\d{2} [a-z]+)*)\)$/.exec(title)?.[1];
  return list?.split(", ") ?? [];
}

export interface Proofs {
  requirements: readonly Requirement[];
  landed: readonly Issue[];
  passedTitles: readonly string[];
  /** Which suites ran; without them `npm test`. */
  suites?: readonly Requirement["suite"][];
}

/** What keeps a full run from being green: parts of landed issues that no passed test names, and names of parts that do not exist. */
export function unproven({ requirements, landed, passedTitles, suites = [undefined] }: Proofs): {
  missing: Requirement[];
  unknown: string[];
} {
  const known = new Set(requirements.map(partOf));
  const named = new Set(passedTitles.flatMap(proofsIn));
  return {
    missing: requirements.filter(
      (requirement) => suites.includes(requirement.suite) && landed.includes(requirement.issue) && !named.has(partOf(requirement)),
    ),
    unknown: [...named].filter((part) => !known.has(part)),
  };
}

function partOf({ id, issue }: Requirement): string {
  return `${id} ${issue}`;
}
