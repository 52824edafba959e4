import { stripVTControlCharacters } from "node:util";

/** Bounds memory for a program that never ends a line. */
const LONGEST = 64 * 1024;

/** Yields each printed line, without escape sequences. The unfinished line (a prompt) is yielded after every chunk, and again when it has grown. */
export async function* printedLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let unfinished = "";
  for await (const chunk of chunks) {
    const lines = (unfinished + decoder.decode(chunk, { stream: true })).split(/\r?\n|\r/);
    unfinished = (lines.pop() ?? "").slice(-LONGEST);
    for (const line of [...lines, unfinished]) if (line !== "") yield stripVTControlCharacters(line);
  }
}
