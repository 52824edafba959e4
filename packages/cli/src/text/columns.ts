/** Aligns rows in columns; the first row is the head. Cells must already be printable. */
import { color } from "./color.ts";
import { widthOf } from "./fit.ts";

export function columns(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)))
      .join("  ")
      .trimEnd();
  return [color("dim", line(head)), ...rows.map(line)].join("\n");
}
