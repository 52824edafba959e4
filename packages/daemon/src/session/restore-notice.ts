import { writeFileSync } from "node:fs";
import type { RestoreReport } from "@holdfast/contract";
import { counted, type Home } from "@holdfast/platform";

/** For a person at their next command; the CLI shows it and takes it away. */
export function writeNotice(home: Home, report: RestoreReport): void {
  writeFileSync(home.notice, `${noticeOf(report).join("\n")}\n`, { mode: 0o600 });
}

/** Whole sentences: what happened, what is there now, what is lost, what to do next. */
export function noticeOf(report: RestoreReport): string[] {
  const { rebuilt, removed, unreadable } = report.sessions;
  return [
    `The journal's database ${conditionOf(report.what)}, and another is in its place. Nothing that runs was touched.`,
    [baseOf(report), lossOf(report)].join(" ").trimEnd(),
    ...named("Rebuilt from their files", rebuilt, "; that somebody had stopped or looked at them may be forgotten"),
    ...named("Removed, because their files are gone", removed),
    ...named(
      "Left alone in sessions/, because nothing readable says what they are",
      unreadable.map((name) => ({ name })),
    ),
    ...(report.setAside === null ? [] : [`The files that were there are in ${report.setAside}: delete them when you miss nothing.`]),
    "Look through your sessions with: holdfast ls --all. Older backups: holdfast backup ls.",
  ];
}

function conditionOf(what: string): string {
  const plainly = /^it is (missing|empty)$/.exec(what)?.[1];
  const owner = /^it belongs to (.*)$/.exec(what)?.[1];
  if (owner) return `belonged to ${owner}`;
  return plainly ? `was ${plainly}` : `was damaged (${what})`;
}

function baseOf(report: RestoreReport): string {
  if (report.salvaged) return "Everything that could still be read of it was kept.";
  if (!report.backup && report.seq > 0) return `There was no backup; ${counted(report.recovered, "event")} could still be read of it.`;
  if (!report.backup) return "There was no backup: sessions were rebuilt from their files alone, and their history is lost.";
  const more = report.recovered === 0 ? "" : `, with ${counted(report.recovered, "later event")} that could still be read`;
  return `The backup ${report.backup.name} was restored${more}.`;
}

function lossOf({ seq, lost, backup, salvaged }: RestoreReport): string {
  if (lost.until === null) return backup || salvaged ? `Whether there was anything after event ${seq} is not known.` : "";
  if (lost.until <= seq) return "No event is known to be lost.";
  return lost.until === seq + 1 ? `Event ${lost.until} is lost.` : `Events ${seq + 1} to ${lost.until} are lost.`;
}

function named(what: string, some: readonly { name: string }[], more = ""): string[] {
  return some.length === 0 ? [] : [`${what}: ${some.map(({ name }) => name).join(", ")}${more}.`];
}
