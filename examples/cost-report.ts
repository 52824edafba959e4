/**
 * Writes model usage since a day as CSV, by model and by session. Prices come from config.toml and Holdfast; an unknown price is empty,
 * never 0.
 *
 *   node cost-report.ts 2026-01-01 > costs.csv
 */
import assert from "node:assert/strict";
import { connect, type UsageReport } from "holdfast/sdk";

const [since] = process.argv.slice(2);

using holdfast = await connect();
const options = since === undefined ? {} : { since: new Date(since) };
const reports = await Promise.all((["model", "session"] as const).map((by) => holdfast.usage({ by, ...options })));

const cell = (value: string | number | null) => (typeof value === "string" ? `"${value.replaceAll('"', '""')}"` : (value ?? ""));
console.log("by,what,turns,input,output,cache read,cache write,dollars");
for (const { by, rows } of reports)
  for (const { key, label, turns, input, output, cacheRead, cacheWrite, cost } of rows)
    console.log([by, label ?? key, turns, input, output, cacheRead, cacheWrite, cost].map(cell).join(","));

const [byModel, bySession] = reports as [UsageReport, UsageReport];
const { total, unpriced } = byModel;
console.error(`${total.turns} turns, ${total.cost === null ? "cost unknown" : `$${total.cost.toFixed(4)}`}`);
if (total.unknownCosts > 0)
  console.error(`at least: of ${total.unknownCosts} turns nobody knows the cost; no price for ${unpriced.join(", ")}`);

// Both breakdowns have the same total.
const sum = ({ rows }: UsageReport, what: "input" | "output") => rows.reduce((all, row) => all + row[what], 0);
for (const what of ["input", "output"] as const) {
  assert.equal(sum(byModel, what), total[what]);
  assert.equal(sum(bySession, what), total[what]);
}
