/** A table as wide as its cells. On a narrower terminal the cells of each row are stacked, with nothing omitted. */
import { widthOf } from "../../text/fit.ts";
import { type Paint, paintRow, STYLE } from "../paint.ts";
import { wrap } from "../wrap.ts";
import { parseInline } from "./inline.ts";

const DELIMITER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

export function isDelimiter(line: string): boolean {
  return line.includes("-") && line.includes("|") && DELIMITER.test(line);
}

export function mayBeTable(line: string): boolean {
  return line.includes("|") && line.trim() !== "|";
}

/** A pipe in code, or after a backslash, does not separate cells. */
export function cellsOf(line: string): string[] {
  const cells: string[] = [];
  let cell = "";
  let ticks = false;
  const inner = line.trim().replace(/^\|/, "");
  for (let i = 0; i < inner.length; i++) {
    const character = inner[i] as string;
    if (character === "\\" && inner[i + 1] === "|") {
      cell += "|";
      i++;
      continue;
    }
    if (character === "`") ticks = !ticks;
    if (character === "|" && !ticks) {
      cells.push(cell.trim());
      cell = "";
    } else cell += character;
  }
  if (cell.trim() !== "") cells.push(cell.trim());
  return cells;
}

/** `lines`: head, delimiter, and the rows so far. */
export function renderTable(
  lines: readonly string[],
  { width, paint, painted }: { width: number; paint: Paint; painted: boolean },
): string[] {
  const [head = [], ...rows] = lines.filter((_, index) => index !== 1).map(cellsOf);
  const rights = cellsOf(lines[1] ?? "").map((mark) => mark.endsWith(":") && !mark.startsWith(":"));
  const count = Math.max(head.length, ...rows.map((row) => row.length));
  const shown = (cell: string) => (painted ? parseInline(cell).spans : [{ text: cell, sgr: "", at: 0 }]);
  const textOf = (cell: string) =>
    shown(cell)
      .map(({ text }) => text)
      .join("");
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...[head, ...rows].map((row) => widthOf(textOf(row[column] ?? "")))),
  );
  const whole = widths.reduce((sum, each) => sum + each + 3, -3);
  if (whole <= width) {
    const line = (row: readonly string[], sgr: string) =>
      widths
        .map((room, column) => {
          const cell = row[column] ?? "";
          const text = sgr === "" ? paintRow(paint, shown(cell)) : paint(sgr, textOf(cell));
          const gap = " ".repeat(room - widthOf(textOf(cell)));
          return rights[column] ? gap + text : text + gap;
        })
        .join(paint(STYLE.dim, " │ "))
        .trimEnd();
    const rule = widths.map((room) => "─".repeat(room)).join("─┼─");
    return [line(head, STYLE.bold), paint(STYLE.dim, rule), ...rows.map((row) => line(row, ""))];
  }
  if (rows.length === 0)
    return wrap([{ text: head.map(textOf).join(" │ "), sgr: STYLE.bold, at: 0 }], { first: width, rest: width }).map(({ spans }) =>
      paintRow(paint, spans),
    );
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [""] : []),
    ...widths.flatMap((_, column) => {
      const cell = row[column] ?? "";
      const label = head[column] ? `${textOf(head[column])}: ` : "";
      const spans = [{ text: label, sgr: STYLE.bold, at: 0 }, ...shown(cell).map((span) => ({ ...span, at: span.at + label.length }))];
      return wrap(spans, { first: width, rest: width - 2 }).map(({ spans }, i) => (i > 0 ? "  " : "") + paintRow(paint, spans));
    }),
  ]);
}
