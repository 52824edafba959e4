import type { Issue, Requirement } from "./requirements.ts";

/** The requirements named at the end of a test's title: `… (SYM-02 spine, BG-03 spine)`, or `… (mend 10)`. */
export function proofsIn(title: string): string[] {
  const list = LIST.exec(title)?.[1];
  return list?.split(", ").map(inFull) ?? [];
}

const PART = "(?:[A-Z]+-\\d{2} [a-z]+|(?:mend|truth) \\d{1,2})";
const LIST = new RegExp(`\\((${PART}(?:, ${PART})*)\\)$`);

function inFull(part: string): string {
  const [, issue, item] = /^(mend|truth) (\d+)$/.exec(part) ?? [];
  return issue === undefined || item === undefined ? part : `${issue.toUpperCase()}-${item.padStart(2, "0")} ${issue}`;
}

export interface Proofs {
  requirements: readonly Requirement[];
  landed: readonly Issue[];
  passedTitles: readonly string[];
  /** The suites that ran; without them `npm test`. */
  suites?: readonly Requirement["suite"][];
}

/** The reasons why a full run is not green: requirements of landed issues that no passed test names, and names that do not exist. */
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
