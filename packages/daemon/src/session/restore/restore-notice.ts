import { writeFileSync } from "node:fs";
import type { RestoreReport } from "@holdfast/contract";
import { counted, type Home } from "@holdfast/platform";

/** Notice for a person's next command; the CLI shows it and deletes it. */
export function writeNotice(home: Home, report: RestoreReport): void {
  writeFileSync(home.notice, `${noticeOf(report).join("\n")}\n`, { mode: 0o600 });
}

/** Whole sentences: what happened, what exists now, what is lost, what to do next. */
export function noticeOf(report: RestoreReport): string[] {
  const { rebuilt, removed, unreadable } = report.sessions;
  return [
    `The journal's database ${conditionOf(report.what)} and was replaced. Running sessions were not touched.`,
    [baseOf(report), lossOf(report)].join(" ").trimEnd(),
    ...named("Rebuilt from their files", rebuilt, "; whether they had been stopped or viewed may be lost"),
    ...named("Removed, because their files are gone", removed),
    ...named(
      "Left alone in sessions/, because their files cannot be read",
      unreadable.map((name) => ({ name })),
    ),
    ...(report.setAside === null ? [] : [`The old files are in ${report.setAside}: delete them when you miss nothing.`]),
    "Check your sessions: holdfast ls --all. List older backups: holdfast backup ls.",
  ];
}

function conditionOf(what: string): string {
  const plainly = /^it is (missing|empty)$/.exec(what)?.[1];
  const owner = /^it belongs to (.*)$/.exec(what)?.[1];
  if (owner) return `belonged to ${owner}`;
  return plainly ? `was ${plainly}` : `was damaged (${what})`;
}

function baseOf(report: RestoreReport): string {
  if (report.salvaged) return "Everything that could still be read was kept.";
  if (!report.backup && report.seq > 0) return `There was no backup; ${counted(report.recovered, "event")} could still be read.`;
  if (!report.backup) return "There was no backup: sessions were rebuilt from their files alone, and their history is lost.";
  const more = report.recovered === 0 ? "" : `, with ${counted(report.recovered, "later event")} that could still be read`;
  return `The backup ${report.backup.name} was restored${more}.`;
}

function lossOf({ seq, lost, backup, salvaged }: RestoreReport): string {
  if (lost.until === null) return backup || salvaged ? `It is not known whether there were events after event ${seq}.` : "";
  if (lost.until <= seq) return "No event is known to be lost.";
  return lost.until === seq + 1 ? `Event ${lost.until} is lost.` : `Events ${seq + 1} to ${lost.until} are lost.`;
}

function named(what: string, some: readonly { name: string }[], more = ""): string[] {
  return some.length === 0 ? [] : [`${what}: ${some.map(({ name }) => name).join(", ")}${more}.`];
}
