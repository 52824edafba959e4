// The style of a row's cells, as runs of text. A style is three numbers, so that comparing neighbours is cheap.
import type { IBufferCell, IBufferLine } from "@xterm/headless";

export interface Style {
  /** DEFAULT, or the colour's source (PALETTE, TRUE_COLOR) with its value. */
  foreground: number;
  background: number;
  attributes: number;
}

export interface Run extends Style {
  text: string;
  /** Column in the row where the text begins. */
  column: number;
}

export const DEFAULT = 0;
const FROM_PALETTE = 0x1000000;
const TRUE_COLOR = 0x2000000;

export const BOLD = 1;
export const DIM = 2;
export const ITALIC = 4;
export const UNDERLINE = 8;
export const INVERSE = 16;
export const INVISIBLE = 32;
export const STRIKETHROUGH = 64;
export const OVERLINE = 128;

/** Attributes that show on an empty cell. */
const VISIBLE_WHEN_EMPTY = UNDERLINE | INVERSE | STRIKETHROUGH | OVERLINE;

/** The runs of a row up to `columns`. Unwritten cells at its end are left out unless their style is visible. */
export function runsOf(row: IBufferLine, columns = row.length): Run[] {
  const runs: Run[] = [];
  let run: Run | undefined;
  let cell: IBufferCell | undefined;
  // Cells without a visible style, counted only if another cell follows.
  let empty = 0;
  for (let column = 0; column < Math.min(columns, row.length); column++) {
    cell = row.getCell(column, cell);
    if (!cell || cell.getWidth() === 0) continue;
    const text = column + cell.getWidth() > columns ? "" : cell.getChars();
    const foreground = colorOf(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor());
    const background = colorOf(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor());
    const attributes = attributesOf(cell);
    if (text === "" && background === DEFAULT && (attributes & VISIBLE_WHEN_EMPTY) === 0) {
      empty++;
      continue;
    }
    if (empty > 0) {
      run = { text: " ".repeat(empty), column: column - empty, foreground: DEFAULT, background: DEFAULT, attributes: 0 };
      runs.push(run);
      empty = 0;
    }
    if (run?.foreground !== foreground || run.background !== background || run.attributes !== attributes) {
      run = { text: "", column, foreground, background, attributes };
      runs.push(run);
    }
    run.text += text || " ";
  }
  return runs;
}

export function isPlain({ foreground, background, attributes }: Style): boolean {
  return foreground === DEFAULT && background === DEFAULT && attributes === 0;
}

/** An index into the 256 colours, or red, green and blue. */
export function colorParts(color: number): { palette: number } | { rgb: number } | undefined {
  if (color === DEFAULT) return undefined;
  return (color & TRUE_COLOR) === 0 ? { palette: color & 0xff } : { rgb: color & 0xffffff };
}

function colorOf(isDefault: boolean, isRgb: boolean, color: number): number {
  if (isDefault) return DEFAULT;
  return isRgb ? TRUE_COLOR | color : FROM_PALETTE | color;
}

function attributesOf(cell: IBufferCell): number {
  return (
    (cell.isBold() && BOLD) |
    (cell.isDim() && DIM) |
    (cell.isItalic() && ITALIC) |
    (cell.isUnderline() && UNDERLINE) |
    (cell.isInverse() && INVERSE) |
    (cell.isInvisible() && INVISIBLE) |
    (cell.isStrikethrough() && STRIKETHROUGH) |
    (cell.isOverline() && OVERLINE)
  );
}
