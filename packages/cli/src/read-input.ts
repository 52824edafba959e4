import { HoldfastError } from "@holdfast/contract/errors";

/** All of standard input as text, for a `-` on the command line. What is no text is refused: it would be typed as something else. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new HoldfastError("usage", "standard input is not text in UTF-8; nothing was typed", {
      hint: "convert it first, for example: iconv -f latin1 -t utf8; keys that are no text are pressed by name: holdfast keys --help",
      cause,
    });
  }
}
