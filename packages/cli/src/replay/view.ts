/**
 * Draws a recorded screen on a terminal of another size. The recording's bytes go only to an emulator. The terminal gets characters, colours and
 * cursor positions written here, so recorded output cannot set a title, fill the clipboard, send a query or leave a mode switched on.
 *
 * A screen larger than the terminal is cut off at the right and shown around the cursor's row. Only changed rows are drawn.
 */
import type { Terminal } from "@xterm/headless";
import { boundedSize, openEmulator, parseNow } from "../render/emulator.ts";
import { Harmless } from "../render/harmless.ts";
import { withoutReordering } from "../render/inert.ts";
import {
  BOLD,
  colorParts,
  DIM,
  INVERSE,
  INVISIBLE,
  ITALIC,
  isPlain,
  OVERLINE,
  runsOf,
  STRIKETHROUGH,
  type Style,
  UNDERLINE,
} from "../render/style.ts";

export interface Size {
  columns: number;
  rows: number;
}

/** Bytes parsed between two checks of the keyboard. */
export const SLICE = 64 * 1024;

export class View implements Disposable {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #harmless = new Harmless();
  readonly #terminal: Terminal;
  #cursorVisible = true;
  #drawn: string[] = [];

  constructor(size: Size) {
    this.#terminal = openEmulator({ ...size, scrollback: 0 });
    for (const [final, visible] of [
      ["h", true],
      ["l", false],
    ] as const) {
      this.#terminal.parser.registerCsiHandler({ prefix: "?", final }, (modes) => {
        if (modes.includes(25)) this.#cursorVisible = visible;
        return false;
      });
    }
  }

  get size(): Size {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  write(bytes: Uint8Array): void {
    const text = this.#harmless.push(this.#decoder.decode(bytes, { stream: true }));
    if (text !== "") parseNow(this.#terminal, text);
  }

  /** Marks missing output with a note on its own line, unless a program draws the whole screen. */
  breakOff(note: string): void {
    parseNow(this.#terminal, this.#harmless.push(`${this.#decoder.decode()}\x18`));
    const { type, cursorX } = this.#terminal.buffer.active;
    if (type === "normal") parseNow(this.#terminal, `${cursorX > 0 ? "\r\n" : ""}${note}\r\n`);
  }

  resize(wanted: Size): void {
    const { columns, rows } = boundedSize(wanted);
    this.#terminal.resize(columns, rows);
  }

  /** The terminal shows something else now, so draw every row again. */
  forget(): void {
    this.#drawn = [];
  }

  /** The output that makes a terminal of this size show the screen, with the status line below. */
  draw(room: Size, status: string): string {
    const { active } = this.#terminal.buffer;
    const height = Math.max(1, room.rows - 1);
    const top = Math.max(0, Math.min(active.cursorY - height + 1, this.#terminal.rows - height));
    const rows = Array.from({ length: height }, (_, y) => {
      const row = y + top < this.#terminal.rows ? active.getLine(active.baseY + top + y) : undefined;
      return row ? drawnRow(runsOf(row, room.columns)) : "";
    });
    if (room.rows > 1) rows.push(status);
    const changed = rows.flatMap((row, y) => (this.#drawn[y] === row ? [] : [`\x1b[${y + 1};1H\x1b[0m\x1b[2K${row}`]));
    this.#drawn = rows;
    const x = Math.min(active.cursorX, room.columns - 1);
    const cursor = `\x1b[0m\x1b[${active.cursorY - top + 1};${x + 1}H\x1b[?25${this.#cursorVisible ? "h" : "l"}`;
    return `\x1b[?2026h\x1b[?25l${changed.join("")}${cursor}\x1b[?2026l`;
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }
}

/** Terminals disagree on the width of some characters, so the next run is positioned at its column. */
function drawnRow(runs: ReturnType<typeof runsOf>): string {
  let drawn = "";
  let at: number | undefined = 0;
  for (const run of runs) {
    const text = withoutReordering(run.text);
    if (at !== run.column) drawn += `\x1b[${run.column + 1}G`;
    drawn += isPlain(run) ? `\x1b[0m${text}` : `\x1b[0;${sgr(run)}m${text}`;
    at = /^[\x20-\x7e]*$/.test(text) ? run.column + text.length : undefined;
  }
  return drawn;
}

const ATTRIBUTE_CODES = [
  [BOLD, 1],
  [DIM, 2],
  [ITALIC, 3],
  [UNDERLINE, 4],
  [INVERSE, 7],
  [INVISIBLE, 8],
  [STRIKETHROUGH, 9],
  [OVERLINE, 53],
] as const;

function sgr({ foreground, background, attributes }: Style): string {
  return [
    ...ATTRIBUTE_CODES.filter(([attribute]) => (attributes & attribute) !== 0).map(([, code]) => code),
    ...colorCodes(foreground, 38),
    ...colorCodes(background, 48),
  ].join(";");
}

function colorCodes(color: number, code: 38 | 48): number[] {
  const parts = colorParts(color);
  if (parts === undefined) return [];
  if ("rgb" in parts) return [code, 2, parts.rgb >> 16, (parts.rgb >> 8) & 255, parts.rgb & 255];
  if (parts.palette < 8) return [code - 8 + parts.palette];
  return parts.palette < 16 ? [code + 44 + parts.palette] : [code, 5, parts.palette];
}
