// The recording of a terminal → the lines a person would have read, without any escape sequence or control character.
//
// The bytes go through a terminal emulator. A line is final once it has scrolled off the top: it is taken then, so that memory stays
// flat however long the recording is, as long as the caller takes what is there (`scrolled` or `settled`) between writes. Rows that
// the terminal wrapped are joined: the text does not depend on the width.
//
// - Redraws (carriage return, cursor up, erase) collapse to what stood there at the end. So does clearing the screen: a program that
//   wipes the screen is redrawing it, and keeping every wiped frame would bury the log. Lines that had scrolled off before stay, even
//   when the program asks to erase the scrollback: somebody has read them.
// - The alternate screen (editors, pagers, full-screen agents) vanishes when it is left, as it does for a person. Its last frame comes
//   after all other lines when the recording ends inside it, or when nothing more was said after it was left.
//
// `logs` uses `scrolled` and `finish`: together they are the same lines however the bytes were cut. `logs -f` uses `settled`, which
// does not wait for lines to scroll off: it also gives those the cursor has moved below. Should the program then redraw such a line,
// nothing further of the screen is given until the caller says that the terminal is at rest; then the lines with a text not yet given
// are. What only ever appends is given exactly once, in order.

import type { IBuffer, IBufferLine, IMarker, Terminal } from "@xterm/headless";
import { boundedSize, openEmulator, parseNow } from "./emulator.ts";
import { Harmless } from "./harmless.ts";
import { inert } from "./inert.ts";

// A slice scrolls at most one line per character, so this scrollback holds all of it until it is read.
const SLICE = 4096;
const SCROLLBACK = SLICE + 64;
// Output without any newline is broken into lines of about this length, or it would be held in memory as one.
const LONGEST_LINE = 1 << 20;

// One row of the screen as it is to come out, without the cells at its end that were never written: so a row that a wide character did
// not fit into joins without a hole. A row stands for itself: wrapped ones are put one after the other.
export type RowReader = (row: IBufferLine) => string;

const plainText: RowReader = (row) => inert(row.translateToString(true));

export class RecordingText implements Disposable {
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  // The emulator needs no protection, but prints a few strings that terminals do not show, such as the titles shells set under tmux.
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
   * What comes next does not follow on what came before: it begins on a line of its own, and nothing that was begun (half a character, a
   * title, a colour) goes on in it. What stands on the screen is given with the next lines.
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

  /** The lines that scrolled off since the last call. They can never change. */
  scrolled(): string[] {
    const lines = this.#ready;
    this.#ready = [];
    return lines;
  }

  /** For a follower: `scrolled`, and the lines the cursor has moved below. `atRest`: nothing was written for a while. */
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

  /** The lines that remain. Nothing may be written afterwards. */
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

  // For a resize: none of these rows may come back onto the screen, and xterm, which goes through all rows then and complains on
  // stderr when that takes long, has only the screen's. At other times it would reset the scroll region.
  #dropTaken(): void {
    this.#terminal.options.scrollback = 0;
    this.#terminal.options.scrollback = SCROLLBACK;
    this.#lastScrolled = undefined;
  }

  // A marker moves with its row; once the row is trimmed away it is disposed and its line is -1.
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

  // A line that a follower has already been given is not given again when it scrolls off or at the end.
  #give(line: string): void {
    const index = this.#given.indexOf(line);
    if (index === -1) this.#put(line);
    else this.#given.splice(0, index + 1);
  }

  // Empty lines wait for one that is not: so there are none at the end, whoever took what when.
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
    // Nothing scrolls off while the alternate screen is up, and a row's place cannot be marked then.
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
    // A full reset replaces the buffers, and the scrollback with them.
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

/** How much has been said outside the alternate screen: equal before and after means nothing was added. */
type Said = { lines: number; last: string };

type Screen = { lines: string[]; cursor: number };

const namesAlternate = (modes: (number | number[])[]): boolean => modes.some((mode) => mode === 47 || mode === 1047 || mode === 1049);

function* rows(buffer: IBuffer, of: { from: number; to: number; read: RowReader }): Generator<{ text: string; wrapped: boolean }> {
  for (let index = of.from; index < of.to; index++) {
    const row = buffer.getLine(index);
    if (row) yield { text: of.read(row), wrapped: row.isWrapped };
  }
}

// The lines of a screen, the first of them with what of it has scrolled off already, and which of them the cursor is in.
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
