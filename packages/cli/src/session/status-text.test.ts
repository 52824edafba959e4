import type { Session } from "@holdfast/contract/session/session";
import { expect, test } from "vitest";
import { statusCell } from "./status-text.ts";

const session = (more: object) =>
  ({ status: "working", statusForMs: 60_000, hung: false, background: false, budget: null, failure: null, ...more }) as Session;

test("the status shows that a budget limit is near, and that a turn failed (mend 15)", () => {
  const budget = (...used: (number | null)[]) => ({
    limits: used.map((each) => ({ limit: "cost", allowed: 1, used: each })),
    exceeded: null,
  });
  expect(statusCell(session({}))).toBe("working 1m");
  expect(statusCell(session({ budget: budget(0.79, null) }))).toBe("working 1m");
  expect(statusCell(session({ budget: budget(0.1, 0.856) }))).toBe("working 1m (budget 85 %)");
  expect(statusCell(session({ failure: { what: "turn", why: "no network", at: "" } }))).toBe("working 1m (a turn failed)");
});
