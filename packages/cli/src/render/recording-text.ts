// Renders a terminal recording as the lines a person would have read, without escape sequences or control characters.
//
// The bytes go through a terminal emulator. A line is final once it scrolls off the top, and is taken then. Memory therefore stays flat for any
// recording, as long as the caller calls `scrolled` or `settled` between writes. Rows that the terminal wrapped are joined, so the text does not
// depend on the width.
//
// - Redraws (carriage return, cursor up, erase) collapse to the final content. So does clearing the screen: a program that clears the screen is
//   redrawing it, and keeping every cleared frame would bury the log. Lines that have already scrolled off stay, even when the program erases
//   the scrollback: a person has read them.
// - The alternate screen (editors, pagers, full-screen agents) disappears when the program leaves it, as it does for a person. Its last frame
//   follows all other lines if the recording ends inside it, or if nothing was printed after it.
//
// `logs` uses `scrolled` and `finish`: together they return the same lines however the bytes were split. `logs -f` uses `settled`, which also
// returns lines that the cursor has moved below, before they scroll off. If the program then redraws such a line, `settled` returns nothing more
// of the screen until the caller reports that the terminal is at rest; then it returns the lines whose text is new. Output that only appends is
// returned exactly once, in order.

import type { IBuffer, IBufferLine, IMarker, Terminal } from "@xterm/headless";
import { boundedSize, openEmulator, parseNow } from "./emulator.ts";
import { Harmless } from "./harmless.ts";
import { inert } from "./inert.ts";

// A slice scrolls at most one line per character, so the scrollback holds all of it until it is read.
const SLICE = 4096;
const SCROLLBACK = SLICE + 64;
// Output without a newline is split into lines of about this length, to bound memory.
const LONGEST_LINE = 1 << 20;

// Reads one row of the screen, without unwritten cells at its end, so that a row too narrow for a wide character joins without a gap. Reads each
// row on its own: wrapped rows are joined by the caller.
export type RowReader = (row: IBufferLine) => string;

const plainText: RowReader = (row) => inert(row.translateToString(true));

export class RecordingText implements Disposable {
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  // Removes strings that terminals do not show but the emulator prints, such as the titles shells set under tmux.
  #harmless = new Harmless();
  readonly #terminal: Terminal;
  readonly #read: RowReader;
  #ready: string[] = [];
  #blanks = 0;
  #lastScrolled: IMarker | undefined;
  #unfinished: string | undefined;
  #given: string[] = [];
  #alternate: { frame: string[]; before: Said } | undefined;
  #scrolledOff: Said = { lines: 0, last: "" };

  constructor({ columns, rows }: { columns: number; rows: number }, read: RowReader = plainText) {
    this.#read = read;
    this.#terminal = this.#openTerminal(columns, rows);
  }

  write(bytes: Uint8Array): void {
    this.#parse(this.#harmless.push(this.#decoder.decode(bytes, { stream: true })));
  }

  /**
   * Starts a new, unrelated stretch of output on its own line. Unfinished state (half a character, a title, a colour) is dropped. The lines on
   * the screen are returned with the next lines.
   */
  breakOff(): void {
    this.#decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    this.#harmless = new Harmless();
    const { active } = this.#terminal.buffer;
    const row = active.getLine(active.baseY + active.cursorY);
    if (active.cursorX > 0 || row?.isWrapped || row?.translateToString(true)) this.#parse("\r\n");
    this.#ready = this.settled({ atRest: true });
    this.#blanks = 0;
  }

  resize(columns: number, rows: number): void {
    this.#takeScrolled();
    this.#dropTaken();
    const size = boundedSize({ columns, rows });
    this.#terminal.resize(size.columns, size.rows);
    this.#takeScrolled();
    this.#dropTaken();
  }

  /** Returns the lines that scrolled off since the last call. They never change. */
  scrolled(): string[] {
    const lines = this.#ready;
    this.#ready = [];
    return lines;
  }

  /** Returns, for a follower, `scrolled` and the lines above the cursor. `atRest`: nothing was written for a while. */
  settled({ atRest = false } = {}): string[] {
    this.#takeScrolled();
    const { lines, cursor } = this.#screen();
    const firstOther = lines.findIndex((line, index) => line !== this.#given[index]);
    const redrawn = firstOther !== -1 && firstOther < this.#given.length;
    if (redrawn && !atRest) return this.scrolled();
    const fresh = redrawn ? lines.slice(0, cursor).filter((line) => !this.#given.includes(line)) : lines.slice(this.#given.length, cursor);
    for (const line of fresh) this.#put(line);
    this.#given = lines.slice(0, Math.max(cursor, redrawn ? firstOther : this.#given.length));
    return this.scrolled();
  }

  /** Returns the remaining lines. Nothing may be written afterwards. */
  finish(): string[] {
    this.#parse(this.#harmless.push(this.#decoder.decode()));
    this.#takeScrolled();
    const frame = this.#lastAlternate();
    for (const line of this.#screen().lines) this.#give(line);
    this.#blanks = 0;
    for (const line of frame) this.#put(line);
    return this.scrolled();
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }

  #parse(text: string): void {
    for (let at = 0; at < text.length; at += SLICE) {
      parseNow(this.#terminal, text.slice(at, at + SLICE));
      this.#takeScrolled();
    }
  }

  #takeScrolled(): void {
    const { normal } = this.#terminal.buffer;
    const first = this.#firstUntaken();
    if (first >= normal.baseY) return;
    for (const { text, wrapped } of rows(normal, { from: first, to: normal.baseY, read: this.#read })) {
      if (!wrapped && this.#unfinished !== undefined) this.#scrollOff(this.#unfinished);
      this.#unfinished = wrapped ? (this.#unfinished ?? "") + text : text;
      if (this.#unfinished.length < LONGEST_LINE) continue;
      this.#scrollOff(this.#unfinished);
      this.#unfinished = undefined;
    }
    this.#lastScrolled?.dispose();
    this.#lastScrolled = this.#terminal.registerMarker(-normal.cursorY - 1);
  }

  // Before a resize: taken rows must not return to the screen. Fewer rows also keep xterm from complaining on stderr that its reflow is slow. Do
  // not call at other times: it resets the scroll region.
  #dropTaken(): void {
    this.#terminal.options.scrollback = 0;
    this.#terminal.options.scrollback = SCROLLBACK;
    this.#lastScrolled = undefined;
  }

  // A marker moves with its row. Once the row is trimmed, the marker is disposed and its line is -1.
  #firstUntaken(): number {
    return this.#lastScrolled ? this.#lastScrolled.line + 1 : 0;
  }

  #scrollOff(line: string): void {
    const text = line.trimEnd();
    if (text !== "") this.#scrolledOff = { lines: this.#scrolledOff.lines + 1, last: text };
    this.#give(text);
  }

  #screen(): Screen {
    return screenOf(this.#terminal.buffer.normal, { read: this.#read, unfinished: this.#unfinished });
  }

  // Skips a line that a follower already received, when it scrolls off or at the end.
  #give(line: string): void {
    const index = this.#given.indexOf(line);
    if (index === -1) this.#put(line);
    else this.#given.splice(0, index + 1);
  }

  // Holds empty lines back until a non-empty line follows, so that the output never ends in empty lines.
  #put(line: string): void {
    if (line === "") {
      this.#blanks++;
      return;
    }
    for (; this.#blanks > 0; this.#blanks--) this.#ready.push("");
    this.#ready.push(line);
  }

  #openTerminal(columns: number, rows: number): Terminal {
    const terminal = openEmulator({ columns, rows, scrollback: SCROLLBACK });
    const { parser, buffer } = terminal;
    // Nothing scrolls off on the alternate screen, and its rows cannot be marked.
    parser.registerCsiHandler({ prefix: "?", final: "h" }, (modes) => {
      if (namesAlternate(modes)) this.#takeScrolled();
      return false;
    });
    parser.registerCsiHandler({ prefix: "?", final: "l" }, (modes) => {
      if (namesAlternate(modes) && buffer.active.type === "alternate") {
        this.#alternate = { frame: screenOf(buffer.alternate, { read: this.#read }).lines, before: this.#said() };
      }
      return false;
    });
    // A full reset replaces the buffers and the scrollback.
    parser.registerEscHandler({ final: "c" }, () => {
      this.#takeScrolled();
      this.#lastScrolled = undefined;
      return false;
    });
    return terminal;
  }

  #lastAlternate(): string[] {
    const { active } = this.#terminal.buffer;
    if (active.type === "alternate") return screenOf(active, { read: this.#read }).lines;
    if (!this.#alternate) return [];
    const { frame, before } = this.#alternate;
    const now = this.#said();
    return now.lines === before.lines && now.last === before.last ? frame : [];
  }

  #said(): Said {
    const written = this.#screen().lines.filter((line) => line !== "");
    return { lines: this.#scrolledOff.lines + written.length, last: written.at(-1) ?? this.#scrolledOff.last };
  }
}

/** The amount of output outside the alternate screen. Equal before and after means that nothing was added. */
type Said = { lines: number; last: string };

type Screen = { lines: string[]; cursor: number };

const namesAlternate = (modes: (number | number[])[]): boolean => modes.some((mode) => mode === 47 || mode === 1047 || mode === 1049);

function* rows(buffer: IBuffer, of: { from: number; to: number; read: RowReader }): Generator<{ text: string; wrapped: boolean }> {
  for (let index = of.from; index < of.to; index++) {
    const row = buffer.getLine(index);
    if (row) yield { text: of.read(row), wrapped: row.isWrapped };
  }
}

// Returns the lines of a screen and the index of the cursor's line. The first line includes its part that has already scrolled off.
function screenOf(buffer: IBuffer, { read, unfinished }: { read: RowReader; unfinished?: string | undefined }): Screen {
  const lines = unfinished === undefined ? [] : [unfinished];
  let row = 0;
  let cursor = 0;
  for (const { text, wrapped } of rows(buffer, { from: buffer.baseY, to: buffer.length, read })) {
    if (wrapped && lines.length > 0) lines.push(lines.pop() + text);
    else lines.push(text);
    if (row++ === buffer.cursorY) cursor = lines.length - 1;
  }
  return { lines: lines.map((line) => line.trimEnd()), cursor };
}
