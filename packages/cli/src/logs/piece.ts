/** The pieces that `logs` prints (a line, bytes, or a note), and how each is written. */
import { writeOut } from "../console/write-out.ts";

/** A note that marks missing output. It must not appear between raw bytes, where it would look like output. */
export interface Note {
  note: string;
  json: object;
}

export type Piece = string | Uint8Array | Note;

export function isNote(piece: Piece | undefined): piece is Note {
  return typeof piece === "object" && "note" in piece;
}

/** Writes text at once: one write per line would cost more than rendering. */
export async function writeText(pieces: readonly Piece[]): Promise<void> {
  await writeOut(pieces.map((piece) => (isNote(piece) ? `${piece.note}\n` : piece)).join(""));
}

export async function writeRaw(pieces: readonly Piece[]): Promise<void> {
  for (const piece of pieces) {
    if (isNote(piece)) process.stderr.write(`${piece.note}\n`);
    else await writeOut(piece);
  }
}

/** Writes a line of text as `{text}`, and bytes, which JSON cannot carry, as `{base64}`. */
export async function writeJson(pieces: readonly Piece[]): Promise<void> {
  for (const piece of pieces) await writeOut(`${JSON.stringify(jsonOf(piece))}\n`);
}

function jsonOf(piece: Piece): object {
  if (typeof piece === "string") return { text: piece.replace(/\n$/, "") };
  return isNote(piece) ? piece.json : { base64: Buffer.from(piece).toString("base64") };
}
