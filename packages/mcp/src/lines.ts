/** Terminal output as plain text. */
import { stripVTControlCharacters } from "node:util";

const NEWLINE = 10;

/** Removes terminal control sequences; of an overwritten line only the last text remains. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text.replaceAll("\r\n", "\n"))
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1).replace(/\r$/, ""))
    .join("\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "");
}

/** Number of bytes at the end that belong to an incomplete character. */
export function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

export interface Line {
  text: string;
  /** Number of bytes up to the end of the line. */
  end: number;
}

/** Output without newlines is split into lines of this many bytes. */
const LONGEST_LINE = 1 << 20;

/** Complete lines as they arrive, and an unterminated last line. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let end = 0;
  const line = (): Line => {
    const bytes = Buffer.concat(pieces);
    pieces = [];
    held = 0;
    end += bytes.length;
    return { text: plainText(bytes.toString("utf8").replace(/\r?\n?$/, "")), end };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      pieces.push(chunk.subarray(from, at + 1));
      from = at + 1;
      yield line();
    }
    if (from === chunk.length) continue;
    pieces.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held >= LONGEST_LINE) yield line();
  }
  if (pieces.length > 0) yield line();
}
