/** Wraps text to the terminal's width. Words stay whole where they fit; nothing is omitted. */
import { widthOf } from "../text/fit.ts";
import type { Span } from "./paint.ts";

export interface WrappedRow {
  spans: Span[];
  width: number;
  /** Offset in the source where the row begins. */
  from: number;
}

interface Piece extends Span {
  width: number;
}

/** `first` and `rest`: the width of the first and of the other rows. Returns at least one row. */
export function wrap(spans: readonly Span[], { first, rest }: { first: number; rest: number }): WrappedRow[] {
  const rows: WrappedRow[] = [{ spans: [], width: 0, from: spans[0]?.at ?? 0 }];
  let room = Math.max(1, first);
  const put = (piece: Piece) => {
    const row = rows.at(-1) as WrappedRow;
    if (row.spans.length === 0) row.from = piece.at;
    const last = row.spans.at(-1);
    if (last && last.sgr === piece.sgr && last.at + last.text.length === piece.at) last.text += piece.text;
    else row.spans.push({ text: piece.text, sgr: piece.sgr, at: piece.at });
    row.width += piece.width;
  };
  const turn = (from: number) => {
    rows.push({ spans: [], width: 0, from });
    room = Math.max(1, rest);
  };
  for (const word of wordsOf(spans)) {
    const row = rows.at(-1) as WrappedRow;
    const width = word.pieces.reduce((sum, piece) => sum + piece.width, 0);
    // Blanks that do not fit become the line break.
    if (word.blank && row.width + width > room) {
      const last = word.pieces.at(-1) as Piece;
      if (row.width > 0) turn(last.at + last.text.length);
      continue;
    }
    if (row.width + width <= room) {
      for (const piece of word.pieces) put(piece);
      continue;
    }
    if (row.width > 0) {
      trim(row);
      turn(word.pieces[0]?.at ?? 0);
    }
    for (const piece of word.pieces) {
      for (const part of charactersOf(piece)) {
        const now = rows.at(-1) as WrappedRow;
        if (now.width > 0 && now.width + part.width > room) turn(part.at);
        put(part);
      }
    }
  }
  return rows;
}

/** A word may have several styles. */
function* wordsOf(spans: readonly Span[]): Generator<{ blank: boolean; pieces: Piece[] }> {
  let pieces: Piece[] = [];
  for (const span of spans) {
    for (const { 0: text, index } of span.text.matchAll(/ +|[^ ]+/g)) {
      const piece = { text, sgr: span.sgr, at: span.at + index, width: widthOf(text) };
      if (text[0] !== " ") {
        pieces.push(piece);
        continue;
      }
      if (pieces.length > 0) yield { blank: false, pieces };
      pieces = [];
      yield { blank: true, pieces: [piece] };
    }
  }
  if (pieces.length > 0) yield { blank: false, pieces };
}

function* charactersOf({ text, sgr, at }: Piece): Generator<Piece> {
  let offset = 0;
  for (const character of text) {
    yield { text: character, sgr, at: at + offset, width: widthOf(character) };
    offset += character.length;
  }
}

function trim(row: WrappedRow): void {
  const last = row.spans.at(-1);
  if (!last) return;
  const text = last.text.trimEnd();
  row.width -= last.text.length - text.length;
  last.text = text;
}

/** Cuts plain text into full rows, for text that is copied or edited. */
export function chop(text: string, room: number): string[] {
  const rows = [""];
  let width = 0;
  for (const character of text) {
    const wide = widthOf(character);
    if (width > 0 && width + wide > Math.max(1, room)) {
      rows.push("");
      width = 0;
    }
    rows[rows.length - 1] += character;
    width += wide;
  }
  return rows;
}
