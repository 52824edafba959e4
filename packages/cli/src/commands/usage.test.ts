import type { UsageReport } from "@holdfast/contract/usage/usage";
import { afterEach, expect, test, vi } from "vitest";
import type { Context } from "../command.ts";
import { command } from "./usage.ts";

afterEach(() => vi.restoreAllMocks());

const SUMS = {
  turns: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  unknownTokens: 0,
  cost: null,
  unknownCosts: 0,
  estimated: false,
};

/** The request and the output. */
async function run(args: string[], flags: Record<string, string> = {}, json = false) {
  const asked: unknown[] = [];
  const report: UsageReport = { by: "day", since: null, rows: [], total: SUMS, unpriced: [] };
  const context = {
    args,
    flags: { text: (name: string) => flags[name] },
    json,
    client: {
      call: async (...call: unknown[]) => {
        asked.push(...call);
        return report;
      },
    },
  } as unknown as Context;
  const printed: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  expect(await command.run(context)).toBe(0);
  vi.restoreAllMocks();
  const [, { query }] = asked as [string, { query: Record<string, unknown> }];
  return { query, printed: printed.join(""), report };
}

test("usage without arguments is grouped by day, for the last thirty days, in the caller's time zone", async () => {
  const { query, printed } = await run([]);
  expect(query).toMatchObject({ by: "day", session: undefined, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone });
  const days = (Date.now() - Date.parse(String(query.since))) / 86_400_000;
  expect(days).toBeCloseTo(30, 3);
  expect(printed).toBe("No usage reported.\n");
});

test("usage of one session is grouped by turn, for all time, unless flags say otherwise", async () => {
  expect((await run(["api"])).query).toMatchObject({ by: "turn", session: "api", since: undefined });
  expect((await run(["api"], { by: "model", since: "2026-11-15T00:00Z" })).query).toMatchObject({
    by: "model",
    since: "2026-11-15T00:00:00.000Z",
  });
  expect((await run([], { since: "all" })).query.since).toBeUndefined();
});

test("--json prints the report unchanged", async () => {
  const { printed, report } = await run([], {}, true);
  expect(JSON.parse(printed)).toEqual(report);
});

test("an unknown grouping, an invalid time and a second name are refused", async () => {
  await expect(run([], { by: "week" })).rejects.toThrow('--by does not take "week"');
  await expect(run(["a", "b"])).rejects.toThrow("expected at most one session");
  await expect(run([], { since: "never" })).rejects.toThrow("--since takes a duration or a time");
});
