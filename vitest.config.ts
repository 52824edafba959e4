import { defineConfig } from "vitest/config";

const agents = {
  test: {
    name: "agents",
    include: ["tests/real/**/*.agents.ts"],
    pool: "forks" as const,
    // Each takes half a gigabyte and, at its start, a core.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
};

export default defineConfig({
  test: {
    reporters: ["./tests/reporter.ts"],
    // A full run is the proof of the requirements: a forgotten `.only` must not make it green.
    allowOnly: process.env.TEST_PROOFS !== "check",
    projects: [
      {
        test: {
          name: "unit",
          include: ["packages/**/*.test.ts", "agents/**/*.test.ts", "script/**/*.test.ts"],
          // Some write tens of thousands of files or rows; on a busy machine that takes a while.
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "product",
          include: ["tests/**/*.test.ts"],
          pool: "forks",
          // Real daemons, tmux servers and floods: they wait more than they compute, but with more at once they measure each other.
          maxWorkers: 4,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      // All real agents take minutes: `npm run test:agents`, and not `npm test`.
      ...(process.env.TEST_AGENTS === "all" ? [agents] : []),
    ],
  },
});
