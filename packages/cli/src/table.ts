/** Sessions as people see them in a terminal. */
import type { Session } from "@holdfast/contract/session";
import { type Color, color } from "./color.ts";
import { formatDuration } from "./duration.ts";
import { plain } from "./plain.ts";

const STATUS_COLOR: Readonly<Record<string, Color>> = {
  working: "green",
  waiting: "yellow",
  idle: "cyan",
  done: "dim",
  stopped: "dim",
  failed: "red",
  lost: "red",
  unknown: "dim",
};

/**
 * As wide as the terminal: the directory is shortened, and the path of the recording (`outputs`) is there only when it fits whole, for
 * half a path cannot be copied. Without a width, for a pipe, everything is there.
 */
export function sessionTable(sessions: readonly Session[], options: { now: number; width: number | undefined; outputs?: boolean }): string {
  const rows = sessions.map((session) => cellsOf(session, options.now));
  const widths = HEADS.map((head, column) => Math.max(head.length, ...rows.map((row) => widthOf(row[column] ?? ""))));
  const room = options.width ?? Number.POSITIVE_INFINITY;
  const shown = options.outputs && sum(widths) <= room ? HEADS.length : OUTPUT;
  const left = Math.max(12, room - sum(widths.slice(0, DIRECTORY)) - 2);
  const line = (cells: readonly string[], paint: (cell: string, column: number) => string) =>
    cells
      .slice(0, shown)
      .map((cell, column) => (shown === OUTPUT && column === DIRECTORY ? shortened(cell, left) : cell))
      .map((cell, column) => paint(column === shown - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)), column))
      .join("  ")
      .trimEnd();
  return [
    line(HEADS, (cell) => color("dim", cell)),
    ...rows.map((row, index) =>
      line(row, (cell, column) =>
        column === 1 ? color(STATUS_COLOR[sessions[index]?.status ?? ""] ?? "dim", cell) : column === 0 ? color("bold", cell) : cell,
      ),
    ),
  ].join("\n");
}

const HEADS = ["NAME", "STATUS", "AGENT", "FOR", "LAST OUTPUT", "PID", "ID", "DIRECTORY", "OUTPUT"];
const DIRECTORY = HEADS.indexOf("DIRECTORY");
const OUTPUT = HEADS.indexOf("OUTPUT");

function cellsOf(session: Session, now: number): string[] {
  return [
    plain(session.name),
    session.status + exitNote(session),
    plain(session.agent),
    session.durationMs === null ? "–" : formatDuration(session.durationMs),
    session.lastActivityAt === null ? "–" : `${formatDuration(Math.max(0, now - Date.parse(session.lastActivityAt)))} ago`,
    session.pid === null ? "–" : String(session.pid),
    session.id,
    shortPath(session.cwd),
    session.outputPath === null ? "–" : shortPath(session.outputPath),
  ];
}

/** Of a line with columns of these widths. */
function sum(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, 2 * (widths.length - 1));
}

function exitNote({ exit, status }: Session): string {
  if (!exit || status === "done") return "";
  return exit.signal ? ` (${exit.signal})` : exit.code === null || status === "stopped" ? "" : ` (${exit.code})`;
}

function shortPath(path: string): string {
  const home = process.env.HOME;
  return plain(home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path);
}

/** The end of a path says more than its beginning. */
function shortened(text: string, room: number): string {
  const characters = [...text];
  return characters.length <= room ? text : `…${characters.slice(characters.length - room + 1).join("")}`;
}

/** Latin letters and dashes: nearly every text. Compiling the Unicode classes below costs more CPU than a table of a hundred sessions. */
const NARROW = /^[\x20-\x7e\xa0-\u02ff\u2010-\u2027]*$/;

/** Cells a text takes: two for East Asian wide characters and emoji, none for combining ones. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) {
    if (/\p{M}|\u200d/u.test(character)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}
