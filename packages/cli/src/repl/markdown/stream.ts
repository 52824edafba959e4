/**
 * Streams markdown to a terminal. Pieces are shown at once: complete lines are returned and never change again. `tail` returns the incomplete
 * line as it looks now; full rows of a long paragraph are returned before its end. Only a table waits for its last row, and stays in the tail
 * until then.
 *
 * Works line by line: an agent's line is a paragraph, a list item or a row. Words are wrapped. Lines of code are returned unwrapped, for the
 * terminal to break, so that they can be copied.
 */
import { inertLine, type Paint, paintRow, type Span, STYLE } from "../paint.ts";
import { chop, type WrappedRow, wrap } from "../wrap.ts";
import { type Inline, NOTHING_OPEN, type Open, parseInline } from "./inline.ts";
import { isDelimiter, mayBeTable, renderTable } from "./table.ts";

/** Rows of an unfinished line that stay in the tail: their marks may still be closed. */
const TAIL_ROWS = 3;

/** Longest part of an unbroken line that is drawn. */
const LONGEST_TAIL = 20_000;

/** A longer table is returned in parts. */
const MOST_TABLE_LINES = 500;

export interface MarkdownOptions {
  /** The terminal's current width. */
  width(): number;
  paint: Paint;
  /** Without styles, markup is shown as written. */
  painted: boolean;
}

interface Fence {
  mark: string;
  indent: number;
}

interface Shape {
  /** Prefix of the first row, and of the others. */
  first: string;
  rest: string;
  text: string;
  base: string;
}

interface Continued {
  rest: string;
  open: Open;
  base: string;
}

export class MarkdownStream {
  readonly #options: MarkdownOptions;
  #line = "";
  #fence: Fence | undefined;
  #table: string[] = [];
  /** Set once the line's beginning has been returned. */
  #continued: Continued | undefined;

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  /** Returns finished lines. */
  push(text: string): string[] {
    const [first = "", ...more] = text.split("\n");
    // A line may be a megabyte and arrive letter by letter, so it is not scanned each time.
    this.#line += first;
    const done: string[] = [];
    for (const next of more) {
      done.push(...this.#take(this.#line));
      this.#line = next;
    }
    done.push(...this.#overflow());
    return done;
  }

  /** The unfinished part as it looks now; each row fits the terminal. */
  tail(): string[] {
    const table = this.#table.length > 1 ? this.#drawTable(this.#table) : this.#table.flatMap((line) => this.#drawLine(line, true));
    if (this.#line === "" && !this.#continued) return table;
    const line = inertLine(this.#line.slice(-LONGEST_TAIL));
    if (this.#fence) return chop(codeLine(line, this.#fence), this.#width - 2).map((row) => `  ${this.#code(row)}`);
    if (this.#table.length > 1 && mayBeTable(line)) return this.#drawTable([...this.#table, line]);
    return [...table, ...this.#drawLine(line, true)];
  }

  /** Ends the text and returns the remaining lines. */
  end(): string[] {
    const done = this.#line === "" && !this.#continued ? [] : this.#take(this.#line);
    this.#line = "";
    done.push(...this.#endTable());
    this.#fence = undefined;
    return done;
  }

  get #width(): number {
    return Math.max(4, this.#options.width());
  }

  #code(text: string): string {
    return this.#options.paint(STYLE.code, text);
  }

  #take(raw: string): string[] {
    const line = inertLine(raw);
    if (this.#continued) return this.#drawLine(line, false);
    if (this.#fence) return this.#inFence(line, this.#fence);
    if (this.#table.length === 1 && isDelimiter(line)) {
      this.#table.push(line);
      return [];
    }
    if (this.#table.length > 1 && mayBeTable(line) && this.#table.length < MOST_TABLE_LINES) {
      this.#table.push(line);
      return [];
    }
    const before = this.#endTable();
    const fence = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/.exec(line);
    if (fence) {
      this.#fence = { mark: fence[2] as string, indent: (fence[1] as string).length };
      const label = (fence[3] ?? "").trim();
      const opening = this.#options.painted ? (label === "" ? [] : [this.#options.paint(STYLE.dim, `  ${label}`)]) : [line];
      return [...before, ...opening];
    }
    if (mayBeTable(line)) {
      this.#table = [line];
      return before;
    }
    return [...before, ...this.#drawLine(line, false)];
  }

  #inFence(line: string, fence: Fence): string[] {
    const mark = fence.mark[0] as string;
    const closing = line.trim();
    if (closing.length >= fence.mark.length && closing === mark.repeat(closing.length)) {
      this.#fence = undefined;
      return this.#options.painted ? [] : [line];
    }
    return [`  ${this.#code(codeLine(line, fence))}`.trimEnd()];
  }

  #endTable(): string[] {
    const lines = this.#table;
    this.#table = [];
    if (lines.length > 1) return this.#drawTable(lines);
    return lines.flatMap((line) => this.#drawLine(line, false));
  }

  #drawTable(lines: readonly string[]): string[] {
    return renderTable(lines, { width: this.#width, paint: this.#options.paint, painted: this.#options.painted });
  }

  /** Draws a complete line, or the available part of one. */
  #drawLine(line: string, partial: boolean): string[] {
    const shape = this.#shapeOf(line);
    const rows = this.#wrap(shape, this.#parse(shape, partial).spans).map((row, index) => this.#drawRow(shape, row, index));
    if (!partial) this.#continued = undefined;
    return rows;
  }

  #drawRow(shape: Shape, row: WrappedRow, index: number): string {
    const prefix = index === 0 ? shape.first : shape.rest;
    return `${this.#options.paint(STYLE.dim, prefix)}${paintRow(this.#options.paint, row.spans)}`.trimEnd();
  }

  #wrap(shape: Shape, spans: readonly Span[]): WrappedRow[] {
    return wrap(spans, { first: this.#width - shape.first.length, rest: this.#width - shape.rest.length });
  }

  #parse(shape: Shape, partial: boolean): Inline {
    if (!this.#options.painted) return { spans: [{ text: shape.text, sgr: "", at: 0 }], opens: [NOTHING_OPEN] };
    return parseInline(shape.text, { partial, open: this.#continued?.open ?? NOTHING_OPEN, base: shape.base });
  }

  #shapeOf(line: string): Shape {
    if (this.#continued) return { first: this.#continued.rest, rest: this.#continued.rest, text: line, base: this.#continued.base };
    return shapeOf(line, this.#options.painted, this.#width);
  }

  /** Returns the full rows of a long line; the line continues after them. */
  #overflow(): string[] {
    if (this.#fence || this.#line.length < this.#width * TAIL_ROWS || this.#mayBecomeOther()) return [];
    const shape = this.#shapeOf(inertLine(this.#line));
    const { spans, opens } = this.#parse(shape, true);
    const rows = this.#wrap(shape, spans);
    const cut = rows[rows.length - TAIL_ROWS];
    if (rows.length <= TAIL_ROWS * 2 || !cut) return [];
    const index = spans.findLastIndex(({ at }) => at <= cut.from);
    this.#continued = { rest: shape.rest, open: opens[index] ?? NOTHING_OPEN, base: shape.base };
    // The rest is already inert text, without the removed sequences.
    this.#line = shape.text.slice(cut.from);
    return rows.slice(0, rows.length - TAIL_ROWS).map((row, at) => this.#drawRow(shape, row, at));
  }
  /** A table or a fence is recognized only once its line is complete. */
  #mayBecomeOther(): boolean {
    return !this.#continued && (this.#table.length > 0 || mayBeTable(this.#line) || /^\s*(`{3}|~{3})/.test(this.#line));
  }
}

function codeLine(line: string, { indent }: Fence): string {
  const own = /^ */.exec(line)?.[0].length ?? 0;
  return line.slice(Math.min(own, indent));
}

const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}((?:>\s?)+)(.*)$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+)(\[[ xX]\]\s+)?(.*)$/;

function shapeOf(line: string, painted: boolean, width: number): Shape {
  const indent = (/^ */.exec(line)?.[0] ?? "").slice(0, Math.floor(width / 2));
  const asItIs = { first: indent, rest: indent, text: line.slice(indent.length), base: "" };
  if (!painted) return asItIs;
  const heading = HEADING.exec(line);
  if (heading) {
    const base = (heading[1] as string).length === 1 ? STYLE.title : STYLE.heading;
    return { first: "", rest: "", text: heading[2] as string, base };
  }
  if (RULE.test(line)) return { first: "─".repeat(Math.min(width, 40)), rest: "", text: "", base: "" };
  const quote = QUOTE.exec(line);
  if (quote) {
    const bars = "│ ".repeat(Math.min((quote[1] as string).replace(/\s/g, "").length, Math.floor(width / 4)));
    return { first: bars, rest: bars, text: quote[2] as string, base: STYLE.italic };
  }
  const item = ITEM.exec(line);
  if (!item) return asItIs;
  const [, lead = "", mark = "", , box = "", text = ""] = item;
  const bullet = /^[-*+]$/.test(mark) ? "•" : mark;
  const ticked = box === "" ? "" : /x/i.test(box) ? "☑ " : "☐ ";
  const first = `${lead.slice(0, Math.floor(width / 3))}${bullet} ${ticked}`;
  if (first.length > width / 2) return asItIs;
  return { first, rest: " ".repeat(first.length), text, base: "" };
}
