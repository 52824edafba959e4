/** Runs the slowest files first, so that none runs alone at the end. They are listed here because a clean checkout has no timings. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

const LONGEST = [
  "tests/chaos/together.test.ts",
  "tests/backup.test.ts",
  "tests/full-disk.test.ts",
  "tests/upgrade.test.ts",
  "tests/far.test.ts",
  "tests/workspace-rm.test.ts",
  "tests/tournament.test.ts",
  "tests/recording-limit.test.ts",
  "tests/real/delivery.agents.ts",
  "tests/real/approvals.agents.ts",
  "tests/real/restarts.agents.ts",
  "tests/real/fork.agents.ts",
  "tests/structured.test.ts",
  "tests/real/real-agents.test.ts",
  "tests/daemon.test.ts",
  "tests/delivery.test.ts",
  "tests/status.test.ts",
  "tests/real/together.test.ts",
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return rank === -1 ? LONGEST.length : rank;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
