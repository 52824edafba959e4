import { HoldfastError } from "@holdfast/contract/errors";
import { TEXT_BODY_LIMIT } from "@holdfast/contract/limits";

/** All of standard input as text, for a `-` on the command line. What is no text is refused: it would be typed as something else. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > TEXT_BODY_LIMIT)
      throw new HoldfastError("body_too_large", "standard input has more than 32 MB, which is the most that is taken", {
        hint: "put a longer text into a file, and tell the agent to read that",
      });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new HoldfastError("usage", "standard input is not text in UTF-8; nothing was typed", {
      hint: "convert it first, for example: iconv -f latin1 -t utf8; keys that are no text are pressed by name: holdfast keys --help",
      cause,
    });
  }
}
