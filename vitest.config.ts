import { defineConfig } from "vitest/config";
import LongestFirst from "./tests/longest-first.ts";

const agents = {
  test: {
    name: "agents",
    include: ["tests/real/**/*.agents.ts"],
    pool: "forks" as const,
    // An agent takes half a gigabyte and, while it starts, a core; afterwards it mostly waits.
    maxWorkers: 3,
    // On a busy machine a screen may come too late once. The reporter lists retried tests; a second failure counts.
    retry: 1,
    testTimeout: 360_000,
    hookTimeout: 120_000,
  },
};

/** Suites that take minutes and are not part of `npm test`: `npm run test:suites` runs all (script/test-suites.mjs). */
const SUITES = {
  faults: [
    "daemon",
    "security-api",
    "full-disk",
    "backup",
    "damage",
    "upgrade",
    "clock",
    "recording-limit",
    "leaks",
    "prune",
    "odd-homes",
    "odd-agent",
    "bad-input",
  ],
  places: [
    "adopt",
    "checkpoints",
    "digest",
    "far",
    "far-everything",
    "fork",
    "people",
    "radar",
    "security-git",
    "tournament",
    "two-users",
    "workspace-merge",
    "workspace-rm",
    "workspaces",
  ],
  together: [
    "apply",
    "chaos/together",
    "children",
    "examples",
    "group-messages",
    "groups",
    "mcp",
    "mcp-groups",
    "mcp-calls",
    "messages",
    "model-servers",
    "model-together",
    "query",
    "sdk",
    "sdk-bundle",
    "subscribers",
  ],
  documentation: ["documentation"],
  terminals: ["attach", "exit", "logs", "native-attach", "replay", "security-keys", "tmux-server", "typing", "watch"],
};

const filesOf = (names: readonly string[]) => names.map((name) => `tests/${name}.test.ts`);

const product = {
  pool: "forks" as const,
  // Real daemons, tmux servers and floods mostly wait, but more of them at once would disturb each other.
  maxWorkers: 5,
  // As for the agents.
  retry: 1,
  // Most take a second or two on a quiet machine, and ten times as long on a busy one.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 20_000 } },
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    reporters: ["./tests/reporter.ts"],
    sequence: { sequencer: LongestFirst },
    // A full run proves the requirements, so a forgotten `.only` must fail it.
    allowOnly: process.env.TEST_PROOFS !== "check",
    projects: [
      {
        test: {
          name: "unit",
          include: ["packages/**/*.test.ts", "agents/**/*.test.ts", "script/**/*.test.ts"],
          setupFiles: ["tests/patience.ts", "tests/unit-home.ts"],
          // Some write tens of thousands of files or rows, which takes a while on a busy machine.
          testTimeout: 60_000,
          // Enough for a machine with two cores.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { name: "product", include: ["tests/**/*.test.ts"], exclude: filesOf(Object.values(SUITES).flat()), ...product } },
      ...Object.entries(SUITES).flatMap(([name, files]) =>
        process.env.TEST_SUITES?.split(",").includes(name) ? [{ test: { name, include: filesOf(files), ...product } }] : [],
      ),
      // The real agents take minutes: `npm run test:agents`.
      ...(process.env.TEST_AGENTS === "all" ? [agents] : []),
    ],
  },
});
