/** A result as a table for the terminal and as docs/BENCHMARKS.md. Every number in either was measured in the run it tells of. */
import { type Benchmark, type Row, type Spread, verdict } from "./harness.ts";
import type { Machine } from "./machine.ts";

export interface Result {
  at: string;
  quick: boolean;
  seconds: number;
  /** Benchmarks that were run again later, alone. */
  anew?: string[];
  load: { before: number; after: number };
  machine: Machine;
  benchmarks: (Omit<Benchmark, "run" | "table"> & { rows: Row[]; table?: string[][]; failed?: string })[];
}

const HEADS = ["benchmark", "what", "Holdfast", "baseline", "ratio", "budget", ""];

export function textTable(result: Result): string {
  const tables = result.benchmarks.flatMap(({ table }) => (table ? [table] : []));
  return [[HEADS, ...cells(result)], ...tables].map(aligned).join("\n\n");
}

function aligned(lines: readonly string[][]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function markdown(result: Result): string {
  const { machine, load, benchmarks } = result;
  const tables = benchmarks.flatMap(({ name, table }) => (table ? [`## ${name}, in full\n\n${piped(table)}\n\n`] : []));
  const missed = benchmarks.flatMap(({ name, rows }) => rows.filter((row) => verdict(row) === "missed").map((row) => ({ name, row })));
  return `# Benchmarks

Written by \`npm run bench -- --write\`; every number was measured in that one run${result.anew ? ` (${result.anew.join(", ")}: later, alone)` : ""}. Subject and baseline are measured in turns, round by round; a
ratio is taken within each round. Shown is the median and, in brackets, p10–p90 of ten or more rounds, else the smallest and the largest.

Run of ${result.at.slice(0, 10)}, ${Math.round(result.seconds)} s${result.quick ? ", with --quick" : ""}, on ${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, ${machine.kernel}, Node ${machine.node},
tmux ${machine.tmux}${machine.dtach ? `, dtach ${machine.dtach}` : ""}; load average ${load.before.toFixed(2)} before it${priority(machine)}.

${piped([HEADS, ...cells(result)])}

${tables.join("")}## Budgets that were missed

${missed.length === 0 ? "None in this run." : missed.map(({ name, row }) => `- **${name}**, ${row.what}: ${measured(row)}. ${row.whenMissed ?? "Not explained yet."}`).join("\n")}

## What is measured

${benchmarks.map(({ name, measures, baseline, budget }) => `**${name}.** ${measures} Baseline: ${baseline}. Budget: ${budget}.`).join("\n\n")}

## Running them

\`npm run bench\` prints this table and writes JSON under \`bench/results/\`. \`-- --list\` lists the benchmarks, \`--only NAME\` runs one (comma-separated:
several), \`--rounds N\` more or fewer rounds, \`--quick\` a rough answer in under two minutes, \`--write\` also rewrites this file,
\`--from FILE\` shows an earlier JSON (and writes from it, with \`--write\`; with \`--only NAME\` that one is run anew in it). They need tmux and python3, and a machine that does nothing else.
`;
}

function piped([heads = [], ...lines]: readonly string[][]): string {
  return [heads, heads.map(() => "---"), ...lines].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

function priority({ nice }: Machine): string {
  return nice === 0 ? "" : `, nice value ${nice}`;
}

function cells({ benchmarks }: Result): string[][] {
  return benchmarks.flatMap(({ name, rows, failed }) => [
    ...rows.map((row, index) => [
      index === 0 ? name : "",
      row.what,
      `${inUnits(row.subject, row.unit)}`,
      row.baseline ? `${row.baseline.name} ${inUnits(row.baseline, row.unit)}` : "",
      row.ratio ? `${range(row.ratio, (value) => value.toFixed(2))}×` : "",
      budgetOf(row),
      { met: "met", missed: "MISSED", none: "" }[verdict(row)],
    ]),
    ...(failed === undefined ? [] : [[name, `failed: ${failed}`, "", "", "", "", "FAILED"]]),
  ]);
}

function measured(row: Row): string {
  const value = row.limit?.of === "ratio" && row.ratio ? `${row.ratio.median.toFixed(2)}×` : inUnits(row.subject, row.unit);
  return `${value} (budget ${budgetOf(row)})`;
}

function budgetOf({ limit, unit }: Row): string {
  if (!limit) return "";
  const [sign, value] = "atMost" in limit ? ["≤", limit.atMost] : ["≥", limit.atLeast];
  return limit.of === "ratio" ? `${sign} ${value}×` : `${sign} ${value} ${unit}`;
}

function inUnits(spread: Spread, unit: string): string {
  return `${range(spread, number)} ${unit}`;
}

function range(spread: Spread, format: (value: number) => string): string {
  const [median, low, high] = [format(spread.median), format(spread.low), format(spread.high)];
  return spread.n === 1 ? median : `${median} (${low}–${high})`;
}

/** Three digits that mean something. */
function number(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
