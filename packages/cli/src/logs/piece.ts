/** What `logs` prints, piece by piece: a line, some bytes, or a remark; and how each is written. */
import { writeOut } from "../write-out.ts";

/** What is no output but stands where some is missing; between raw bytes it would be taken for some of them. */
export interface Note {
  note: string;
  json: object;
}

export type Piece = string | Uint8Array | Note;

export function isNote(piece: Piece | undefined): piece is Note {
  return typeof piece === "object" && "note" in piece;
}

/** Text in one piece: a write per line would cost more than rendering it. */
export async function writeText(pieces: readonly Piece[]): Promise<void> {
  await writeOut(pieces.map((piece) => (isNote(piece) ? `${piece.note}\n` : piece)).join(""));
}

export async function writeRaw(pieces: readonly Piece[]): Promise<void> {
  for (const piece of pieces) {
    if (isNote(piece)) process.stderr.write(`${piece.note}\n`);
    else await writeOut(piece);
  }
}

/** A line of text as `{text}`; bytes, which JSON cannot carry, as `{base64}`. */
export async function writeJson(pieces: readonly Piece[]): Promise<void> {
  for (const piece of pieces) await writeOut(`${JSON.stringify(jsonOf(piece))}\n`);
}

function jsonOf(piece: Piece): object {
  if (typeof piece === "string") return { text: piece.replace(/\n$/, "") };
  return isNote(piece) ? piece.json : { base64: Buffer.from(piece).toString("base64") };
}
