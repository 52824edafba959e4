/** The matrix, for a terminal and for docs/ACCURACY.md. */
import { AGENTS } from "../../script/real-agents.mjs";
import { AGENT_NAMES } from "../real/agents.ts";
import { type Judged, LATE_MS, VERDICTS } from "./judge.ts";

export interface Place {
  agent: string;
  host: string;
  mode: string;
  columns: number;
  run: number;
}

/** `missed`: the agent did not reach the state, so Holdfast's claim about it was not tested. */
export interface Found extends Place, Omit<Judged, "verdict"> {
  verdict: Judged["verdict"] | "missed";
}

const ALL = [...VERDICTS, "missed"] as const;

export function lineOf(one: Found): string {
  const isRight = one.verdict === "right";
  const why = isRight ? "" : one.verdict === "missed" ? `: ${one.said}` : ` (said ${one.said})`;
  return `${isRight ? "✓" : "✗"} ${where(one)}, ${one.state}: ${one.is}: ${one.verdict}, ${one.latencyMs ?? "–"} ms${why}`;
}

export function report(found: readonly Found[]): string {
  const agents = AGENT_NAMES.filter((name) => found.some(({ agent }) => agent === name));
  const runs = [...new Set(found.map(({ run }) => run))].sort((a, b) => a - b);
  const bad = found.filter(({ verdict }) => verdict !== "right");
  const lines = [
    ...runs.map((run) =>
      summaryOf(
        `Run ${run}`,
        found.filter((one) => one.run === run),
      ),
    ),
    summaryOf("All", found),
    latencies(found),
    "",
    ...tableOf("state", { found, agents, rowOf: ({ state, is }) => `${state}: ${is}` }),
    "",
    ...tableOf("where", { found, agents, rowOf: ({ host, mode, columns }) => `${host}, ${mode}, ${columns} columns` }),
  ];
  if (bad.length > 0) lines.push("", "Not right:", "", ...bad.map((one) => `- ${lineOf(one).slice(2).split("\n")[0]} (run ${one.run})`));
  return lines.join("\n");
}

export function documentOf(text: string, found: readonly Found[]): string {
  const versions = AGENT_NAMES.map((agent) => `${agent} ${AGENTS[agent].version}`).join(", ");
  const runs = new Set(found.map(({ run }) => run)).size;
  return `# Accuracy of the status

\`npm run accuracy\` wrote this page after ${runs} ${runs === 1 ? "run" : "runs"}. It drives the real agents (${versions}) on a scripted model. It compares the status that
Holdfast reports with the truth. The truth comes from the model's requests, from processes and files, and from the agent's
screen in a separate terminal emulator. It never comes from Holdfast's own status.

A check is *right* if the status is correct within ${LATE_MS} ms and stays correct. It is *late* after ${LATE_MS} ms. It is *unknown* if Holdfast reports no
status. Anything else is *wrong*. It is *missed* if the agent could not be brought into the state. Each cell ends with its slowest latency.

${text}
`;
}

function summaryOf(name: string, found: readonly Found[]): string {
  const counts = ALL.map((verdict) => `${found.filter((one) => one.verdict === verdict).length} ${verdict}`);
  return `${name}: ${found.length} checks: ${counts.join(", ")}.`;
}

function tableOf(
  first: string,
  { found, agents, rowOf }: { found: readonly Found[]; agents: readonly string[]; rowOf: (one: Found) => string },
): string[] {
  const names = [...new Set(found.map(rowOf))];
  const cells = names.map((name) => [
    name,
    ...agents.map((agent) => cellOf(found.filter((one) => one.agent === agent && rowOf(one) === name))),
  ]);
  const all = ["all", ...agents.map((agent) => cellOf(found.filter((one) => one.agent === agent)))];
  const head = [first, ...agents];
  return [head, head.map(() => "---"), ...cells, all].map((row) => `| ${row.join(" | ")} |`);
}

function cellOf(found: readonly Found[]): string {
  if (found.length === 0) return "–";
  const counts = ALL.map((verdict) => [found.filter((one) => one.verdict === verdict).length, verdict] as const);
  const parts = counts.filter(([many]) => many > 0).map(([many, verdict]) => `${many} ${verdict}`);
  const slowest = Math.max(...found.map(({ latencyMs }) => latencyMs ?? 0));
  return `${parts.join(", ")}; ${Math.round(slowest)} ms`;
}

function latencies(found: readonly Found[]): string {
  const sorted = found.flatMap(({ latencyMs }) => latencyMs ?? []).sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return `Latency from the truth to the status: median ${at(0.5)} ms, 95 % within ${at(0.95)} ms, longest ${at(1)} ms.`;
}

function where({ agent, host, mode, columns }: Place): string {
  return `${agent} (${host}, ${mode}, ${columns} columns)`;
}
