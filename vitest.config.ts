import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    reporters: ["./tests/reporter.ts"],
    retry: 0,
    // A full run is the proof of the requirements: a forgotten `.only` must not make it green.
    allowOnly: process.env.TEST_PROOFS !== "check",
    projects: [
      {
        test: {
          name: "unit",
          include: ["packages/**/*.test.ts", "agents/**/*.test.ts", "script/**/*.test.ts"],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "product",
          include: ["tests/**/*.test.ts"],
          pool: "forks",
          // Real daemons, tmux servers and floods: more at once and they measure each other.
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
