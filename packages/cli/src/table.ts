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

export function sessionTable(sessions: readonly Session[], options: { now: number; width: number | undefined }): string {
  const rows = sessions.map((session) => [
    plain(session.name),
    session.status + exitNote(session),
    plain(session.agent),
    session.durationMs === null ? "–" : formatDuration(session.durationMs),
    session.lastActivityAt === null ? "–" : `${formatDuration(Math.max(0, options.now - Date.parse(session.lastActivityAt)))} ago`,
    session.id,
    shortPath(session.cwd),
  ]);
  const heads = ["NAME", "STATUS", "AGENT", "FOR", "LAST OUTPUT", "ID", "DIRECTORY"];
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => widthOf(row[column] ?? ""))));
  const line = (cells: string[], paint: (cell: string, column: number) => string) =>
    cells
      .map((cell, column) => paint(column === cells.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)), column))
      .join("  ")
      .trimEnd();
  const fit = (cells: string[]) => {
    const used = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
    const room = options.width === undefined ? Number.POSITIVE_INFINITY : Math.max(12, options.width - used);
    return cells.map((cell, column) => (column === cells.length - 1 ? shortened(cell, room) : cell));
  };
  return [
    line(heads, (cell) => color("dim", cell)),
    ...rows.map((row, index) =>
      line(fit(row), (cell, column) =>
        column === 1 ? color(STATUS_COLOR[sessions[index]?.status ?? ""] ?? "dim", cell) : column === 0 ? color("bold", cell) : cell,
      ),
    ),
  ].join("\n");
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

/** Cells a text takes: two for East Asian wide characters and emoji, none for combining ones. */
export function widthOf(text: string): number {
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
