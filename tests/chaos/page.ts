/** docs/CHAOS.md: which faults, how often, and what held after each. */
import { join } from "node:path";
import { ROOT } from "../home.ts";

const HOLDS: [fault: string, holds: string][] = [
  ["kill -9 of the daemon", "programs have the pids they had; the next command lists all of them"],
  ["kill -9 of the daemon in a start", "a start that was acknowledged is there; one that was not is there whole, or not at all"],
  ["kill -9 of the daemon in a send", "a line that was acknowledged arrives once; one that was not, at most once"],
  ["kill -9 of the daemon in a stop", "the stop is finished by the next daemon, or was never asked for; nothing stays frozen"],
  ["kill -9 of a program", "its session has failed, by SIGKILL; the others do not notice"],
  ["kill -9 of a holder", "its session is lost, and nothing of it runs on; the others do not notice"],
  ["kill -9 of the tmux server", "all sessions in it are lost, and nothing of them runs on; those with holders do not notice"],
  ["the database overwritten after a backup", "nothing is lost; a new epoch begins"],
  ["the database cut off after a backup", "nothing is lost; a new epoch begins"],
  ["the database gone after a backup", "nothing is lost; a new epoch begins"],
  [
    "the database overwritten",
    "sessions, names, pids and recordings stay; of ended ones it may be forgotten that they were stopped or looked at",
  ],
  ["the database cut off", "the same"],
  ["the database gone", "the same"],
  ["kill -9 of a recorder", "the recording goes on under another, and the gap is an event"],
];

/** Only the full run speaks for the product: one that was made shorter, or repeats another, is somebody's own matter. */
export function fileFor(run: { histories?: string; longest?: string; seed?: string; out?: string }): string | undefined {
  const isFull = run.histories === undefined && run.longest === undefined && run.seed === undefined;
  return run.out ?? (isFull ? join(ROOT, "docs/CHAOS.md") : undefined);
}

export function page(run: { faults: ReadonlyMap<string, number>; count: number; longest: number; seed: number; seconds: number }): string {
  const rows = HOLDS.map(([fault, holds]) => `| ${fault} | ${holds} | ${run.faults.get(fault) ?? 0} |`);
  const unknown = [...run.faults.keys()].filter((fault) => !HOLDS.some(([known]) => known === fault));
  if (unknown.length > 0) throw new Error(`the page says nothing of ${unknown.join(", ")}`);
  return `# Chaos

Written by \`npm run chaos\`: random histories of starts, sends, stops, renames, looks, removals, pruning and faults against a model
(\`tests/chaos/\`). After every step, within seconds: exactly the sessions of the model are listed, with the status and the pid they must
have; what was acknowledged is in the recording once and in order; events follow each other without a gap; no process of an ended run is
left. A failure is shrunk to the shortest history that shows it. A short run of it is part of \`npm test\`.

${run.count} histories of up to ${run.longest} steps, seed ${run.seed}, ${run.seconds} s: all held.

| fault | what must hold, besides | times |
| --- | --- | --- |
${rows.join("\n")}
`;
}
