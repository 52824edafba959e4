/** Usage as a table with bars. */
import type { UsageBy } from "@holdfast/contract/usage/enums";
import type { Sums, UsageReport, UsageRow } from "@holdfast/contract/usage/usage";
import { color } from "../text/color.ts";
import { cut, widthOf } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import { costCell, costText, tokensCell, tokensOf, tokensText } from "./spent.ts";

const HEADS: Record<UsageBy, string> = { day: "DAY", agent: "AGENT", model: "MODEL", session: "SESSION", group: "GROUP", turn: "TURN" };

/** Widest name; longer ones are cut on a terminal. */
const LONGEST_LABEL = 32;
const LEAST_BAR = 8;
const LONGEST_BAR = 48;

/** Without a width, for a pipe, there are no bars. */
export function usageChart(report: UsageReport, width: number | undefined): string {
  if (report.by === "group" && report.rows.every(({ key }) => key === null)) {
    const all = report.rows.length === 0 ? "" : ` In all: ${tokensText(report.total)}; ${costText(report.total)}.`;
    return `No usage in groups.${all}`;
  }
  if (report.rows.length === 0) return `No usage reported${report.since === null ? "" : " in that time"}.`;
  const cached = report.total.cacheRead + report.total.cacheWrite > 0;
  const cells = (label: string, sums: Sums) => [
    width === undefined ? label : cut(label, LONGEST_LABEL),
    ...(report.by === "turn" ? [] : [String(sums.turns)]),
    tokensCell(sums.input, sums),
    tokensCell(sums.output, sums),
    ...(cached ? [tokensCell(sums.cacheRead, sums), tokensCell(sums.cacheWrite, sums)] : []),
    costCell(sums),
  ];
  const head = [
    HEADS[report.by],
    ...(report.by === "turn" ? [] : ["TURNS"]),
    "INPUT",
    "OUTPUT",
    ...(cached ? ["CACHE READ", "CACHE WRITE"] : []),
    "COST",
  ];
  const rows = report.rows.map((row) => cells(labelOf(row, report.by), row));
  const total = cells("total", report.total);
  const widths = head.map((_, column) => Math.max(...[head, ...rows, total].map((row) => widthOf(row[column] ?? ""))));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === 0 ? cell + pad(cell, widths[0]) : pad(cell, widths[column]) + cell)).join("  ");
  const room = width === undefined ? 0 : Math.min(LONGEST_BAR, width - widths.reduce((sum, each) => sum + each + 2, 0));
  const bar = room < LEAST_BAR ? () => "" : barsOf(report, room);
  return [
    color("dim", line(head)),
    ...rows.map((row, index) => `${line(row)}${bar(report.rows[index])}`.trimEnd()),
    ...(rows.length > 1 ? [color("bold", line(total))] : []),
    ...notes(report),
  ].join("\n");
}

function pad(cell: string, width = 0): string {
  return " ".repeat(Math.max(0, width - widthOf(cell)));
}

function labelOf({ key, label }: UsageRow, by: UsageBy): string {
  if (key === null) return by === "model" ? "unknown" : "none";
  return plain(label ?? key);
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** By cost if any cost is known, otherwise by tokens. */
function barsOf({ rows, total }: UsageReport, room: number): (row: UsageRow | undefined) => string {
  const size = (row: UsageRow | undefined) => (row === undefined ? 0 : total.cost ? (row.cost ?? 0) : tokensOf(row));
  const largest = Math.max(...rows.map(size));
  return (row) => {
    const eighths = largest === 0 ? 0 : Math.round((size(row) / largest) * room * 8);
    // A value above zero is always visible.
    const drawn = size(row) > 0 ? Math.max(1, eighths) : 0;
    return `  ${color("cyan", "█".repeat(Math.floor(drawn / 8)) + (EIGHTHS[drawn % 8] ?? ""))}`;
  };
}

function notes({ total, unpriced }: UsageReport): string[] {
  const names = unpriced.flatMap((model) => (model === null ? [] : [plain(model)]));
  return [
    ...(total.unknownCosts > 0 ? [`${costText(total)}`] : []),
    ...(total.unknownTokens > 0
      ? [`${total.unknownTokens} ${total.unknownTokens === 1 ? "turn" : "turns"} did not report all tokens`]
      : []),
    ...(total.estimated ? ["~ is estimated from the length of the texts: not every agent reports its tokens"] : []),
    ...(names.length > 0
      ? [`no price is known for ${names.join(", ")}; set one in config.toml: [prices.${JSON.stringify(names[0])}]`]
      : []),
  ].map((text) => color("dim", text));
}
