import { stripVTControlCharacters } from "node:util";

/** A program that draws without ever ending a line must not fill memory. */
const LONGEST = 64 * 1024;

/**
 * Each line a program has printed, without escape sequences; the one that is not finished yet (a prompt) comes as it stands after
 * every chunk, and again when it has grown.
 */
export async function* printedLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let unfinished = "";
  for await (const chunk of chunks) {
    const lines = (unfinished + decoder.decode(chunk, { stream: true })).split(/\r?\n|\r/);
    unfinished = (lines.pop() ?? "").slice(-LONGEST);
    for (const line of [...lines, unfinished]) if (line !== "") yield stripVTControlCharacters(line);
  }
}
