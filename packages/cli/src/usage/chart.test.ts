import type { UsageBy } from "@holdfast/contract/usage/enums";
import type { UsageReport, UsageRow } from "@holdfast/contract/usage/usage";
import { expect, test } from "vitest";
import { usageChart } from "./chart.ts";

function row(key: string | null, more: Partial<UsageRow> = {}): UsageRow {
  return {
    key,
    label: null,
    turns: 1,
    input: 1000,
    output: 100,
    cacheRead: 0,
    cacheWrite: 0,
    unknownTokens: 0,
    cost: 1,
    unknownCosts: 0,
    estimated: false,
    ...more,
  };
}

function report(rows: UsageRow[], more: Partial<UsageReport> = {}): UsageReport {
  const sum = (of: (row: UsageRow) => number) => rows.reduce((all, each) => all + of(each), 0);
  const known = rows.some(({ cost }) => cost !== null);
  const total = {
    turns: sum(({ turns }) => turns),
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
    unknownTokens: sum(({ unknownTokens }) => unknownTokens),
    cost: known ? sum(({ cost }) => cost ?? 0) : null,
    unknownCosts: sum(({ unknownCosts }) => unknownCosts),
    estimated: rows.some(({ estimated }) => estimated),
  };
  return { by: "day", since: null, rows, total, unpriced: [], ...more };
}

test("a pipe gets numbers with headings and a total, and no bars", () => {
  const rows = [row("2026-11-14"), row("2026-11-15", { input: 200_000, cost: 0.5, cacheRead: 5000 })];
  expect(usageChart(report(rows), undefined)).toBe(
    [
      "DAY         TURNS  INPUT  OUTPUT  CACHE READ  CACHE WRITE   COST",
      "2026-11-14      1     1k     100           0            0  $1.00",
      "2026-11-15      1   200k     100          5k            0  $0.50",
      "total           2   201k     200          5k            0  $1.50",
    ].join("\n"),
  );
});

test("bars on a terminal are proportional to the cost, and no line is too wide", () => {
  const rows = [row("a", { cost: 4 }), row("b", { cost: 2 }), row("c", { cost: 0.001 }), row("d", { cost: 0 })];
  const lines = usageChart(report(rows, { by: "agent" }), 60).split("\n");
  const bars = lines.map((line) => /[▏▎▍▌▋▊▉█]+$/.exec(line)?.[0] ?? "");
  expect([bars[1]?.length, bars[2]?.length, bars[3], bars[4]]).toEqual([bars[1]?.length, (bars[1]?.length ?? 0) / 2, "▏", ""]);
  expect(bars[1]?.length).toBeGreaterThan(20);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
});

test("without costs the bars show tokens, and a narrow terminal has no bars", () => {
  const rows = [row("a", { cost: null, unknownCosts: 1, estimated: false }), row("b", { cost: null, unknownCosts: 1, input: 450 })];
  const bars = usageChart(report(rows, { by: "model" }), 80).split("\n");
  expect(bars[1]).toMatch(/█{20,}$/);
  expect(usageChart(report(rows, { by: "model" }), 40)).not.toMatch(/█/);
});

test("unknown costs, unknown tokens and models without a price are listed below", () => {
  const text = usageChart(
    report([row("a", { cost: 1.2, unknownCosts: 3, unknownTokens: 2, turns: 9 })], { unpriced: ["new", null] }),
    undefined,
  );
  expect(text).toContain("≥$1.20");
  expect(text).toContain("at least $1.20, 3 turns of unknown cost");
  expect(text).toContain("2 turns did not report all tokens");
  expect(text).toContain('no price is known for new; set one in config.toml: [prices."new"]');
  // One row is its own total.
  expect(text).not.toContain("total");
});

test.each<[UsageBy, string | null, string]>([
  ["model", null, "unknown"],
  ["turn", null, "none"],
])("by %s, a key of %s is %s", (by, key, label) => {
  expect(usageChart(report([row(key)], { by }), undefined).split("\n")[1]).toMatch(new RegExp(`^${label} `));
});

test("a label is printable, and shortened on a terminal", () => {
  const text = usageChart(report([row("id", { label: `\x1b[31m${"x".repeat(50)}` })], { by: "session" }), 120);
  expect(text).not.toContain("\x1b[31m");
  expect(text).toMatch(/x{10,31}…/);
});

test("usage without groups, or without any rows, is reported", () => {
  expect(usageChart(report([row(null)], { by: "group" }), 80)).toBe("No usage in groups. In all: 1k in, 100 out; $1.00.");
  expect(usageChart(report([], { by: "group" }), 80)).toBe("No usage in groups.");
  expect(usageChart(report([row("g1")], { by: "group" }), 80)).toContain("GROUP");
  expect(usageChart(report([]), 80)).toBe("No usage reported.");
  expect(usageChart(report([], { since: "2026-11-15T00:00:00.000Z" }), 80)).toBe("No usage reported in that time.");
});
