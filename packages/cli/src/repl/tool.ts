/** A tool call: one line while it runs and when it is done; everything when unfolded. */
import type { ToolKind } from "@holdfast/contract/conversation/enums";
import { formatDuration } from "../text/duration.ts";
import { cut, shortPath } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import { type Change, countChange, diffLines } from "./diff.ts";
import { inertLine, inertLines, type Paint, STYLE } from "./paint.ts";

export interface Tool {
  /** The number that unfolds it. */
  number: number;
  title: string;
  kind: ToolKind;
  input: unknown;
  files: string[];
  output: string;
  changes: Change[];
  /** Null while it runs. */
  ok: boolean | null;
  startedAt: number;
  endedAt: number | null;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;

/** A call that takes longer shows its duration. */
const LONG_MS = 1000;

/** Lines shown of a failed call: the end of its output says most. */
const FAILED_LINES = 4;

export function spinner(now: number): string {
  return FRAMES[Math.floor(now / FRAME_MS) % FRAMES.length] ?? "";
}

export function toolRow(tool: Tool, { paint, width, now }: { paint: Paint; width: number; now: number }): string {
  const mark = tool.ok === null ? paint(STYLE.yellow, spinner(now)) : tool.ok ? paint(STYLE.green, "✓") : paint(STYLE.red, "✗");
  const notes = notesOf(tool, now).join(" · ");
  const number = `[${tool.number}]`;
  const title = cut(inertLine(tool.title.split("\n")[0] ?? ""), Math.max(8, width - number.length - notes.length - 8));
  return `${mark} ${paint(STYLE.dim, number)} ${title}${notes === "" ? "" : paint(STYLE.dim, ` · ${notes}`)}`;
}

function notesOf(tool: Tool, now: number): string[] {
  const tookMs = (tool.endedAt ?? now) - tool.startedAt;
  const sums = tool.changes.map(countChange);
  const added = sums.reduce((sum, each) => sum + each.added, 0);
  const removed = sums.reduce((sum, each) => sum + each.removed, 0);
  const lines = tool.output === "" ? 0 : tool.output.trimEnd().split("\n").length;
  return [
    ...(tool.changes.length > 0 ? [`+${added} −${removed}`] : []),
    ...(lines > 0 ? [`${lines} ${lines === 1 ? "line" : "lines"}`] : []),
    ...(tookMs >= LONG_MS ? [formatDuration(tookMs)] : []),
  ];
}

/** The rows of a finished call: its line, and for a failed one the end of its output. */
export function doneRows(tool: Tool, look: { paint: Paint; width: number; now: number }): string[] {
  const row = toolRow(tool, look);
  if (tool.ok) return [row];
  const said = inertLines(tool.output).filter((line) => line.trim() !== "");
  return [row, ...said.slice(-FAILED_LINES).map((line) => `    ${look.paint(STYLE.dim, cut(line, Math.max(8, look.width - 5)))}`)];
}

/** All details of the call. */
export function unfoldedRows(tool: Tool, look: { paint: Paint; width: number; now: number }): string[] {
  const { paint } = look;
  const input = argumentRows(tool.input);
  const output = inertLines(tool.output);
  return [
    toolRow(tool, look),
    ...tool.files.map((file) => `    ${paint(STYLE.dim, shortPath(file))}`),
    ...input.map((line) => `    ${paint(STYLE.cyan, line)}`),
    ...(output.length > 0 ? [paint(STYLE.dim, "    ──"), ...output.map((line) => `    ${line}`)] : []),
    ...tool.changes.flatMap((change) => [
      `    ${paint(STYLE.bold, `${shortPath(change.path)}${change.old === null ? " (new)" : ""}`)}`,
      ...diffLines(change, paint).map((line) => `    ${line}`),
    ]),
    ...(input.length + output.length + tool.changes.length === 0 ? [`    ${paint(STYLE.dim, "no further output")}`] : []),
  ];
}

/** Every argument in full: a person must be able to read all that they allow. */
export function argumentRows(input: unknown): string[] {
  if (input === null || input === undefined) return [];
  if (typeof input !== "object") return inertLines(String(input));
  return Object.entries(input).flatMap(([name, value]) => {
    const lines = inertLines(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""));
    return lines.length <= 1 ? [`${plain(name)}: ${lines[0] ?? ""}`] : [`${plain(name)}:`, ...lines.map((line) => `  ${line}`)];
  });
}
