/** The matrix, for a terminal and for docs/ACCURACY.md. */
import { type Judged, VERDICTS, type Verdict } from "./judge.ts";

export interface Result extends Judged {
  agent: string;
  host: string;
  mode: string;
  columns: number;
}

/** A state that could not be reached: nothing is known of what would have been said. */
export interface Missed {
  agent: string;
  host: string;
  mode: string;
  columns: number;
  state: string;
  why: string;
}

export function report(results: readonly Result[], missed: readonly Missed[]): string {
  const agents = [...new Set(results.map(({ agent }) => agent))];
  const rows = [
    ...tableOf("state", results, agents, ({ state, is }) => `${state}: ${is}`),
    "",
    ...tableOf("where", results, agents, ({ host, mode, columns }) => `${host}, ${mode}, ${columns} columns`),
  ];
  const bad = results.filter(({ verdict }) => verdict !== "right");
  const lines = [
    `${results.length} checks: ${VERDICTS.map((verdict) => `${count(results, verdict)} ${verdict}`).join(", ")}; ${missed.length} states not reached.`,
    latencies(results),
    "",
    ...rows,
  ];
  if (bad.length > 0)
    lines.push("", "Not right:", "", ...bad.map((one) => `- ${one.verdict}: ${where(one)}, ${one.state}: ${one.is}; said ${one.said}`));
  if (missed.length > 0)
    lines.push("", "Not reached:", "", ...missed.map((one) => `- ${where(one)}, ${one.state}: ${one.why.split("\n")[0]}`));
  return lines.join("\n");
}

function tableOf(first: string, results: readonly Result[], agents: readonly string[], rowOf: (result: Result) => string): string[] {
  const names = [...new Set(results.map(rowOf))];
  const cells = names.map((name) => [
    name,
    ...agents.map((agent) => cellOf(results.filter((one) => one.agent === agent && rowOf(one) === name))),
  ]);
  const head = [first, ...agents];
  const all = ["all", ...agents.map((agent) => cellOf(results.filter((one) => one.agent === agent)))];
  return [head, head.map(() => "---"), ...cells, all].map((row) => `| ${row.join(" | ")} |`);
}

function cellOf(results: readonly Result[]): string {
  if (results.length === 0) return "–";
  const parts = VERDICTS.map((verdict) => [count(results, verdict), verdict] as const).filter(([many]) => many > 0);
  const slowest = Math.max(...results.map(({ latencyMs }) => latencyMs ?? 0));
  return `${parts.map(([many, verdict]) => `${many} ${verdict}`).join(", ")}; ${Math.round(slowest)} ms`;
}

function latencies(results: readonly Result[]): string {
  const sorted = results.flatMap(({ latencyMs }) => latencyMs ?? []).sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return `Latency from the truth to its claim: median ${at(0.5)} ms, 95 % within ${at(0.95)} ms, longest ${at(1)} ms.`;
}

function count(results: readonly Judged[], wanted: Verdict): number {
  return results.filter(({ verdict }) => verdict === wanted).length;
}

function where({ agent, host, mode, columns }: Pick<Missed, "agent" | "host" | "mode" | "columns">): string {
  return `${agent} (${host}, ${mode}, ${columns})`;
}
