import { defineConfig } from "vitest/config";
import LongestFirst from "./tests/longest-first.ts";

const agents = {
  test: {
    name: "agents",
    include: ["tests/real/**/*.agents.ts"],
    pool: "forks" as const,
    // Each takes half a gigabyte and, at its start, a core; then it waits more than it computes.
    maxWorkers: 3,
    // On a machine that does other things too, a screen may come too late once. It is told, and twice is a failure.
    retry: 1,
    testTimeout: 360_000,
    hookTimeout: 120_000,
  },
};

/** What takes minutes, and is not in `npm test`: `npm run test:suites`, or `test:faults`, `test:places`, `test:terminals`, `test:together` (script/test-suites.mjs). */
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
  // Real daemons, tmux servers and floods: they wait more than they compute, but with more at once they measure each other.
  maxWorkers: 5,
  // As for the agents.
  retry: 1,
  // Alone most take a second or two; with all that a machine may do meanwhile, ten times as long.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 20_000 } },
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    reporters: ["./tests/reporter.ts"],
    sequence: { sequencer: LongestFirst },
    // A full run is the proof of the requirements: a forgotten `.only` must not make it green.
    allowOnly: process.env.TEST_PROOFS !== "check",
    projects: [
      {
        test: {
          name: "unit",
          include: ["packages/**/*.test.ts", "agents/**/*.test.ts", "script/**/*.test.ts"],
          setupFiles: ["tests/patience.ts", "tests/unit-home.ts"],
          // Some write tens of thousands of files or rows; on a busy machine that takes a while.
          testTimeout: 60_000,
          // Also where there are two cores only.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { name: "product", include: ["tests/**/*.test.ts"], exclude: filesOf(Object.values(SUITES).flat()), ...product } },
      ...Object.entries(SUITES).flatMap(([name, files]) =>
        process.env.TEST_SUITES?.split(",").includes(name) ? [{ test: { name, include: filesOf(files), ...product } }] : [],
      ),
      // All real agents take minutes: `npm run test:agents`, and not `npm test`.
      ...(process.env.TEST_AGENTS === "all" ? [agents] : []),
    ],
  },
});
