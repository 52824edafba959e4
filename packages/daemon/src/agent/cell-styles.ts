/**
 * Reads the style of each cell from a screen's bytes: letters, colours and moves to the right, row by row, as both hosts give them. A row whose
 * letters differ from its line was misread and has no styles.
 */
import type { Screen } from "@holdfast/contract";

export interface Style {
  faint: boolean;
  /** Foreground colour: an index of the 256, `#rrggbb`, or "" for the terminal's default. */
  colour: string;
}

/** A control sequence, an end of line, or a letter with its combining marks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern reads control sequences
const TOKENS = /\x1b\[([?0-9;:]*)([A-Za-z])|\x1b[()][A-Z0-9]|\x1b.|\r?\n|\r|(\P{M}\p{M}*)/gsu;
const PLAIN: Style = { faint: false, colour: "" };

type Row = { letter: string; style: Style }[];

export function cellStyles({
  ansi,
  lines,
  columns,
}: Pick<Screen, "ansi" | "lines" | "columns">): (x: number, y: number) => Style | undefined {
  const rows: Row[] = [[]];
  let style = PLAIN;
  for (const [token, parameters = "", final, letter] of ansi.matchAll(TOKENS)) {
    if (token === "\n" || token === "\r\n") rows.push([]);
    else if (final === "m") style = styleAfter(style, parameters);
    else if (final === "C") rows.at(-1)?.push(...Array.from({ length: Number(parameters || 1) }, () => ({ letter: " ", style: PLAIN })));
    else if (letter !== undefined) {
      // A row that the program's text wrapped has no end of line.
      if (rows.at(-1)?.length === columns) rows.push([]);
      rows.at(-1)?.push({ letter, style });
    }
  }
  return (x, y) => {
    const row = rows[y] ?? [];
    const text = row.map(({ letter }) => letter).join("");
    return text.trimEnd() === lines[y] ? row[x]?.style : undefined;
  };
}

function styleAfter(before: Style, parameters: string): Style {
  const numbers = parameters.split(/[;:]/).map(Number);
  let { faint, colour } = before;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? 0;
    if (number === 38 || number === 48) {
      const [read, length] = colourAt(numbers.slice(i + 1));
      if (number === 38) colour = read;
      i += length;
    } else if (number === 0) ({ faint, colour } = PLAIN);
    else if (number === 2) faint = true;
    else if (number === 22) faint = false;
    else if (number === 39) colour = "";
    else if (number >= 30 && number <= 37) colour = String(number - 30);
    else if (number >= 90 && number <= 97) colour = String(number - 90 + 8);
  }
  return { faint, colour };
}

/** A colour and the number of parameters it uses. */
function colourAt([kind, ...rest]: readonly number[]): [colour: string, length: number] {
  if (kind === 5) return [String(rest[0] ?? ""), 2];
  return [
    `#${rest
      .slice(0, 3)
      .map((part) => part.toString(16).padStart(2, "0"))
      .join("")}`,
    4,
  ];
}
