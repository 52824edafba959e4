/** Box-drawing and block characters as shapes that meet their neighbours, whichever font a reader has. */

export interface Place {
  x: number;
  /** The width of a cell and the height of a line. */
  cell: number;
  line: number;
  color: string;
}

/** Where a line goes from the middle of the cell: up, right, down, left. */
const LINES: Record<string, string> = Object.fromEntries(
  "─rl │ud ┌rd ┐ld └ur ┘ul ├urd ┤uld ┬rld ┴url ┼urdl ╭rd ╮ld ╰ur ╯ul ━rl ┃ud ╌rl ╎ud ╶r ╴l ╵u ╷d ⎿ur"
    .split(" ")
    .map((entry) => [entry.slice(0, 1), entry.slice(1)]),
);

/** Which quarters of the cell are full: 1 upper left, 2 upper right, 4 lower left, 8 lower right. */
const QUARTERS: Record<string, number> = {
  "▘": 1,
  "▝": 2,
  "▀": 3,
  "▖": 4,
  "▌": 5,
  "▞": 6,
  "▛": 7,
  "▗": 8,
  "▚": 9,
  "▐": 10,
  "▜": 11,
  "▄": 12,
  "▙": 13,
  "▟": 14,
  "█": 15,
};

/** Blocks overlap by this much, because browsers leave a hairline between shapes that only touch. */
const SEAM = 0.5;

/** The shape of a piece of text; undefined if it is written as text. */
export function shapeOf(piece: string, place: Place): string | undefined {
  const characters = [...piece];
  if (characters.every((character) => character in LINES)) return lines(characters, place);
  if (characters.every((character) => character in QUARTERS)) return blocks(characters, place);
  if (piece === "⏸") return pause(place);
  return undefined;
}

function lines(characters: string[], { x, cell, line, color }: Place): string {
  const [first = ""] = characters;
  const middle = round(line / 2);
  const stroke = `stroke="${color}" fill="none"${"━┃".includes(first) ? ' stroke-width="2"' : ""}`;
  if (characters.every((character) => character === first) && LINES[first] === "rl") {
    const dash = first === "╌" ? ` stroke-dasharray="${round(cell * 0.3)} ${round(cell * 0.2)}"` : "";
    return `<path d="M${round(x)} ${middle}h${round(characters.length * cell)}" ${stroke}${dash}/>`;
  }
  const path = characters.map((character, index) => cellLines(character, { x: x + index * cell, cell, line })).join("");
  return `<path d="${path}" ${stroke}/>`;
}

function cellLines(character: string, { x, cell, line }: Omit<Place, "color">): string {
  const middle = { x: round(x + cell / 2), y: round(line / 2) };
  const ends: Record<string, string> = {
    u: `${middle.x} 0`,
    d: `${middle.x} ${line}`,
    l: `${round(x)} ${middle.y}`,
    r: `${round(x + cell)} ${middle.y}`,
  };
  const directions = [...(LINES[character] ?? "")];
  if ("╭╮╰╯".includes(character)) {
    const [from, to] = directions.map((direction) => ends[direction]);
    return `M${from}Q${middle.x} ${middle.y} ${to}`;
  }
  return directions.map((direction) => `M${middle.x} ${middle.y}L${ends[direction]}`).join("");
}

function blocks(characters: string[], { x, cell, line, color }: Place): string {
  const [width, height] = [cell / 2, line / 2];
  const path = characters.map((character, index) => {
    const quarters = QUARTERS[character] ?? 0;
    const at = x + index * cell;
    const full = [0, 1, 2, 3].filter((quarter) => (quarters & (1 << quarter)) !== 0);
    return full.map((quarter) => box(at + (quarter % 2) * width, quarter < 2 ? 0 : height, width + SEAM, height)).join("");
  });
  return `<path d="${path.join("")}" fill="${color}" shape-rendering="crispEdges"/>`;
}

function pause({ x, cell, line, color }: Place): string {
  const bars = [0.12, 0.58].map((at) => box(x + at * cell, line * 0.3, cell * 0.26, line * 0.42));
  return `<path d="${bars.join("")}" fill="${color}"/>`;
}

function box(x: number, y: number, width: number, height: number): string {
  return `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
