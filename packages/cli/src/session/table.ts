/** The table of sessions. */

import type { Session } from "@holdfast/contract/session/session";
import { reachedText } from "@holdfast/contract/usage/amounts";
import { shellWord } from "@holdfast/platform/shell";
import { attachedCell } from "../attach/attachment-text.ts";
import { formatBytes } from "../text/bytes.ts";
import { type Color, color } from "../text/color.ts";
import { formatDuration } from "../text/duration.ts";
import { cut, shortened, shortPath, widthOf } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import { costCell, tokensCell, tokensOf } from "../usage/spent.ts";
import { statusCell, waitsFor } from "./status-text.ts";

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

export interface TableOptions {
  now: number;
  width: number | undefined;
  /** Shows the path of each recording. */
  outputs?: boolean;
  /** Tree prefix before each name. */
  branches?: ReadonlyMap<string, string> | undefined;
  /** Shows each session's resources, pid and id. */
  usage?: boolean;
  /** CPU time per second, measured between two reads; without it, the average since the start. */
  load?: ReadonlyMap<string, number>;
}

/**
 * Fits the terminal: shortens some columns (LEAST) and drops the least important ones. The recording's path (`outputs`) is shown only in full,
 * because half a path cannot be copied. Without a width, for a pipe, everything is shown.
 */
export function sessionTable(sessions: readonly Session[], options: TableOptions): string {
  const room = options.width ?? Number.POSITIVE_INFINITY;
  const given = {
    ...options,
    waits: sessions.some(({ attention }) => attention !== null),
    groups: options.usage && sessions.some(({ groups }) => groups.length > 0),
  };
  const wanted = COLUMNS.filter(({ when }) => when === undefined || given[when]);
  const measured = wanted.map(({ head, cell }) => {
    const cells = sessions.map((session) => cell(session, options));
    const widths = cells.map(widthOf);
    return { head, cells, widths, width: Math.max(head.length, ...widths) };
  });
  const whole = (columns: readonly { width: number }[]) => columns.reduce((total, { width }) => total + width + 2, -2);
  const least = (columns: readonly { head: string; width: number }[]) =>
    whole(columns.map(({ head, width }) => ({ width: Math.min(width, LEAST[head] ?? width) })));
  let columns = measured;
  for (const head of DISPENSABLE) {
    if ((columns.some((column) => column.head === "OUTPUT") ? whole : least)(columns) <= room) break;
    columns = columns.filter((column) => column.head !== head);
  }
  let spare = Math.max(0, room - least(columns));
  for (const [head, least] of Object.entries(LEAST)) {
    const column = columns.find((each) => each.head === head);
    if (!column || column.width <= least) continue;
    const given = Math.min(column.width, least + spare);
    spare -= given - least;
    narrow(column, given);
  }
  const last = columns.at(-1);
  const isPainted = process.stdout.isTTY;
  const line = (index: number | undefined) => {
    let text = "";
    for (const column of columns) {
      const cell = index === undefined ? column.head : (column.cells[index] ?? "");
      const width = index === undefined ? cell.length : (column.widths[index] ?? 0);
      const padded = column === last ? cell : cell + " ".repeat(column.width - width + 2);
      text += isPainted ? paint(padded, { head: column.head, status: index === undefined ? undefined : sessions[index]?.status }) : padded;
    }
    return text.trimEnd();
  };
  return [line(undefined), ...sessions.map((_, index) => line(index))].join("\n");
}

function narrow(column: { head: string; cells: string[]; widths: number[]; width: number }, room: number): void {
  const shorten = column.head === "DIRECTORY" ? shortened : cut;
  column.cells = column.cells.map((cell) => shorten(cell, room));
  column.widths = column.cells.map(widthOf);
  column.width = Math.max(...column.widths, column.head.length);
}

export const LEAST_PATH = 12;

/** Columns that are shortened, with their minimum widths. Spare width goes to the first one first. */
const LEAST: Readonly<Record<string, number>> = { "WAITS FOR": 24, ABOUT: 20, DIRECTORY: LEAST_PATH };

/** In the order in which they are dropped. */
const DISPENSABLE = "OUTPUT PID HOST PROCESSES ATTACHED LAST_OUTPUT RUNS GROUP TOKENS ID FOR DIRECTORY AGENT"
  .split(" ")
  .map((head) => head.replace("_", " "));

/** Longer texts are shown by `show`. */
const MOST_WAITS = 48;
const MOST_ABOUT = 60;
const MOST_ABOUT_IN_A_PIPE = 200;

function paint(text: string, { head, status }: { head: string; status: string | undefined }): string {
  if (status === undefined) return color("dim", text);
  if (head === "STATUS") return color(STATUS_COLOR[status] ?? "dim", text);
  return head === "NAME" ? color("bold", text) : text;
}

interface Column {
  head: string;
  when?: "outputs" | "usage" | "waits" | "groups";
  cell(session: Session, options: TableOptions): string;
}

const NONE = "–";

const COLUMNS: readonly Column[] = [
  { head: "NAME", cell: ({ id, name }, { branches }) => (branches?.get(id) ?? "") + plain(name) },
  { head: "STATUS", cell: (session, { now }) => statusCell(session) + exitNote(session) + restartNote(session, now) },
  { head: "WAITS FOR", when: "waits", cell: (session, { now }) => cut(waitsFor(session, now), MOST_WAITS) },
  { head: "AGENT", cell: ({ agent }) => plain(agent) },
  { head: "FOR", cell: ({ durationMs }) => (durationMs === null ? NONE : formatDuration(durationMs)) },
  {
    head: "LAST OUTPUT",
    cell: ({ lastActivityAt, idleMs }, { now }) =>
      lastActivityAt === null ? NONE : `${formatDuration(idleMs ?? Math.max(0, now - Date.parse(lastActivityAt)))} ago`,
  },
  { head: "CPU", when: "usage", cell: (session, { load }) => percent(session, load) },
  { head: "MEMORY", when: "usage", cell: ({ usage }) => (usage === null ? NONE : formatBytes(usage.memoryBytes)) },
  { head: "PROCESSES", when: "usage", cell: ({ usage }) => (usage === null ? NONE : String(usage.processes)) },
  { head: "TOKENS", when: "usage", cell: ({ spent }) => (spent === null ? NONE : tokensCell(tokensOf(spent), spent)) },
  { head: "COST", when: "usage", cell: ({ spent }) => (spent === null ? NONE : costCell(spent)) },
  { head: "GROUP", when: "groups", cell: ({ groups }) => plain(groups.join(", ")) || NONE },
  { head: "RUNS", when: "usage", cell: ({ runs }) => String(runs) },
  { head: "HOST", when: "usage", cell: ({ host }) => host },
  { head: "ATTACHED", when: "usage", cell: ({ attachments }) => attachedCell(attachments) || NONE },
  { head: "PID", when: "usage", cell: ({ pid }) => (pid === null ? NONE : String(pid)) },
  { head: "ID", when: "usage", cell: ({ id }) => id },
  { head: "ABOUT", cell: (session, { width }) => cut(aboutText(session), width === undefined ? MOST_ABOUT_IN_A_PIPE : MOST_ABOUT) },
  { head: "DIRECTORY", cell: ({ cwd }) => shortPath(cwd) },
  { head: "OUTPUT", when: "outputs", cell: ({ outputPath }) => (outputPath === null ? NONE : shortPath(outputPath)) },
];

/** The objective, else the first prompt, else the command. */
export function aboutText({ objective, firstPrompt, command }: Session): string {
  // Absent in a daemon of an older version.
  const about = objective || firstPrompt;
  if (about) return plain(about);
  const [program = "", ...args] = command;
  return plain([program.slice(program.lastIndexOf("/") + 1), ...args].map(shellWord).join(" ")) || NONE;
}

function percent({ id, usage, durationMs }: Session, load: ReadonlyMap<string, number> | undefined): string {
  if (usage === null) return NONE;
  const share = load?.get(id) ?? (durationMs ? usage.cpuMs / durationMs : 0);
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`;
}

function exitNote({ exit, status, cause, budget }: Session): string {
  if (status === "stopped" && budget?.exceeded) return ` (budget: ${reachedText(budget.exceeded)})`;
  if (cause === "out_of_memory") return " (out of memory)";
  if (!exit || status === "done") return "";
  return exit.signal ? ` (${exit.signal})` : exit.code === null || status === "stopped" ? "" : ` (${exit.code})`;
}

function restartNote({ restartAt, restartGivenUp }: Session, now: number): string {
  if (restartAt !== null) return `, next run in ${formatDuration(Math.max(0, Date.parse(restartAt) - now))}`;
  return restartGivenUp === null || restartGivenUp === "stopped" ? "" : ", given up";
}
