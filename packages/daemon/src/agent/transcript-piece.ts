/** Reads a piece of an agent's own record of a conversation, over all its files in order. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Largest piece: nobody reads more at once. */
const MOST_BYTES = 1 << 20;

export interface Piece {
  text: string;
  from: number;
  next: number;
  bytes: number;
}

/** The piece ends at the end of a line if there is one within `limit` bytes, and never inside a character. */
export function pieceOf(files: readonly string[], { from: asked, limit }: { from: number; limit: number }): Piece {
  const sizes = files.map((file) => reading(file, (_, size) => size) ?? 0);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const from = Math.min(asked, bytes);
  const most = Math.max(4, Math.min(limit, MOST_BYTES));
  let before = 0;
  for (const [index, file] of files.entries()) {
    const size = sizes[index] ?? 0;
    const at = from - before;
    before += size;
    if (at >= size) continue;
    const read = reading(file, (descriptor) => {
      const buffer = Buffer.alloc(Math.min(most, size - at));
      return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, at));
    });
    // The file may have been truncated meanwhile.
    if (!read || read.length === 0) continue;
    const whole = at + read.length >= size ? read : wholeLines(read);
    return { text: whole.toString("utf8"), from, next: from + whole.length, bytes };
  }
  return { text: "", from, next: from, bytes };
}

function wholeLines(piece: Buffer): Buffer {
  const end = piece.lastIndexOf(10);
  if (end >= 0) return piece.subarray(0, end + 1);
  let length = piece.length;
  while (length > 1 && ((piece[length - 1] ?? 0) & 0xc0) === 0x80) length--;
  // The first byte of an incomplete character.
  return (piece[length - 1] ?? 0) >= 0xc0 ? piece.subarray(0, Math.max(length - 1, 1)) : piece;
}

/** Reads only ordinary files: an agent may have left anything there. */
function reading<T>(path: string, read: (descriptor: number, size: number) => T): T | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const found = fstatSync(descriptor);
    return found.isFile() ? read(descriptor, found.size) : undefined;
  } finally {
    closeSync(descriptor);
  }
}
