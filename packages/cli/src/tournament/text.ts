/** A tournament as text: one line per entry. */
import { stripVTControlCharacters } from "node:util";
import type { Check, Tournament, TournamentEntry } from "@holdfast/contract/tournament/tournament";
import { counted } from "@holdfast/platform/units";
import { statusCell } from "../session/status-text.ts";
import { color } from "../text/color.ts";
import { columns } from "../text/columns.ts";
import { formatDuration } from "../text/duration.ts";
import { cut, shortPath, widthOf } from "../text/fit.ts";
import { plain } from "../text/plain.ts";

export function tournamentText(
  tournament: Tournament,
  { now, width = Number.POSITIVE_INFINITY }: { now: number; width?: number | undefined },
): string {
  const { entries, kept, name, prompt, base, baseCommit, startedAt } = tournament;
  const from =
    base === null || base === baseCommit ? (baseCommit ?? "").slice(0, 10) : `${plain(base)} at ${(baseCommit ?? "").slice(0, 10)}`;
  const head = `${color("bold", plain(name))}  from ${from}, started ${formatDuration(Math.max(0, now - Date.parse(startedAt)))} ago`;
  const shown = COLUMNS.filter(({ when }) => when === undefined || entries.some(when));
  const table = tableOf(
    entries.map((entry) => shown.map(({ cell }) => marked(cell(entry, now), entry, { kept, cell }))),
    shown.map((column) => column.head),
    width,
  );
  const failed = entries.filter(({ check }) => check?.state === "failed");
  const notes = [
    ...failed.map(({ name: entry, check }) => `${plain(entry)}: the check said: ${shortPath(check?.log ?? "")}`),
    kept === null ? `Keep one: holdfast keep ${plain(entries[0]?.name ?? name)}` : `* ${plain(kept)} was kept`,
  ];
  const words = prompt === null ? [] : [cut(plain(prompt.trim().split("\n")[0] ?? ""), width)];
  const lines = [head, ...words, "", ...table.split("\n").map((line) => cut(line, width)), "", ...notes.map((note) => color("dim", note))];
  return lines.join("\n");
}

/** Marks the kept entry with a star. */
function marked(text: string, { workspace }: TournamentEntry, { kept, cell }: { kept: string | null; cell: unknown }): string {
  return cell === nameCell && kept !== null && workspace?.name === kept ? `${text} *` : text;
}

/** One line per entry; if too narrow, one column per entry. */
function tableOf(rows: readonly (readonly string[])[], heads: readonly string[], width: number): string {
  const wide = columns(heads, rows);
  const fits = (table: string) => table.split("\n").every((line) => widthOf(stripVTControlCharacters(line)) <= width);
  if (fits(wide)) return wide;
  const turned = heads.slice(1).map((head, i) => [head.toLowerCase(), ...rows.map((row) => row[i + 1] ?? "")]);
  const narrow = columns(["", ...rows.map((row) => row[0] ?? "")], turned);
  return fits(narrow) ? narrow : wide;
}

const nameCell = ({ name }: TournamentEntry): string => plain(name);

const COLUMNS: readonly { head: string; cell(entry: TournamentEntry, now: number): string; when?(entry: TournamentEntry): boolean }[] = [
  { head: "NAME", cell: nameCell },
  { head: "AGENT", cell: ({ agent }) => plain(agent) },
  { head: "STATUS", cell: statusText },
  { head: "TURNS", cell: ({ session }) => (session === null ? "-" : String(session.turns)) },
  { head: "TIME", cell: timeText },
  { head: "COMMITS", cell: commitsText },
  { head: "CHANGED", cell: changedText },
  {
    head: "UNCOMMITTED",
    cell: ({ workspace }) => (workspace?.changes ? String(workspace.changes) : "-"),
    when: ({ workspace }) => (workspace?.changes ?? 0) > 0,
  },
  { head: "CHECK", cell: ({ check }) => (check === null ? "-" : checkText(check)), when: ({ check }) => check !== null },
  { head: "CONFLICTS", cell: conflictText, when: (entry) => conflictText(entry) !== "-" },
];

function isThere(workspace: TournamentEntry["workspace"]): workspace is NonNullable<TournamentEntry["workspace"]> {
  return workspace !== null && workspace.removedAt === null;
}

function statusText({ session, workspace }: TournamentEntry): string {
  const removed = workspace !== null && workspace.removedAt !== null ? " (removed)" : "";
  return session === null ? (workspace === null ? "not started" : `no session${removed}`) : statusCell(session) + removed;
}

/** Commits that the base does not have. */
function commitsText({ workspace }: TournamentEntry): string {
  if (!isThere(workspace)) return "-";
  return workspace.mergedAt !== null && workspace.ahead === 0 ? "merged" : String(workspace.ahead ?? "?");
}

/** Duration of the work so far. */
function timeText({ session }: TournamentEntry): string {
  return session?.durationMs == null ? "-" : formatDuration(session.durationMs);
}

/** `3 files +10 -2`. */
function changedText({ diff }: TournamentEntry): string {
  if (diff === null) return "-";
  return diff.files === 0 ? "nothing" : `${counted(diff.files, "file")} +${diff.insertions} -${diff.deletions}`;
}

/** `passed in 3s`, `failed (1) in 1m 02s`. */
export function checkText({ state, exitCode, durationMs }: Check): string {
  const time = durationMs === null ? "" : ` in ${formatDuration(durationMs)}`;
  return `${state}${state === "failed" && exitCode !== null ? ` (${exitCode})` : ""}${time}`;
}

function conflictText({ workspace }: TournamentEntry): string {
  if (!isThere(workspace)) return "-";
  const names = [
    ...workspace.conflicts.map((conflict) => conflict.workspace),
    ...(workspace.baseConflicts.length > 0 ? [workspace.base ?? "base"] : []),
  ];
  return names.length === 0 ? "-" : names.map(plain).join(", ");
}
