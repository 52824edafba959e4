import { writeFileSync } from "node:fs";
import type { RestoreReport } from "@holdfast/contract";
import type { Home } from "@holdfast/platform";

/** For a person at their next command; the CLI shows it and takes it away. */
export function writeNotice(home: Home, report: RestoreReport): void {
  writeFileSync(home.notice, `${noticeOf(report).join("\n")}\n`, { mode: 0o600 });
}

export function noticeOf(report: RestoreReport): string[] {
  const { sessions } = report;
  return [
    `The journal's database was damaged: ${report.what}.`,
    `${[baseOf(report), ...lossOf(report)].join("; ")}.`,
    ...named(
      "Rebuilt from their files",
      sessions.rebuilt.map(({ name }) => name),
    ),
    ...named(
      "Their files are gone, and so are their records",
      sessions.removed.map(({ name }) => name),
    ),
    ...named("Nothing readable describes these directories of sessions/", sessions.unreadable),
    ...(report.setAside === null ? [] : [`What was there before is in ${report.setAside}`]),
  ];
}

function baseOf(report: RestoreReport): string {
  if (report.salvaged) return "What could be read of it was kept";
  if (!report.backup) return "There was no backup: sessions were rebuilt from their directories alone, their history is lost";
  const more = report.recovered === 0 ? "" : `, with ${report.recovered} later events out of the damaged database`;
  return `The backup ${report.backup.name} was restored${more}`;
}

function lossOf({ seq, lost, backup, salvaged }: RestoreReport): string[] {
  if (lost.until !== null) return [lost.until > seq ? `events ${seq + 1} to ${lost.until} are lost` : "no event is known to be lost"];
  return backup || salvaged ? [`whether there were events after ${seq} is not known`] : [];
}

function named(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}: ${names.join(", ")}`];
}
