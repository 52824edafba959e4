/** Aligns rows in columns; the first row is the head. Cells must already be printable. */
import { color } from "./color.ts";
import { widthOf } from "./fit.ts";

export function columns(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const [first = "", ...more] = aligned([head, ...rows]);
  return [color("dim", first), ...more].join("\n");
}

/** The lines of a table. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? "")))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)))
      .join("  ")
      .trimEnd(),
  );
}
