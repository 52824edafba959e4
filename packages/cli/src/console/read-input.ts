import { HoldfastError } from "@holdfast/contract/errors";
import { TEXT_BODY_LIMIT } from "@holdfast/contract/limits";

/** Reads all of standard input as text, for a `-` on the command line. Refuses input that is not text: it would be typed wrongly. */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write("reading from the terminal until Ctrl+D\n");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > TEXT_BODY_LIMIT)
      throw new HoldfastError("body_too_large", "standard input is longer than 32 MB", {
        hint: "put the text into a file and tell the agent to read it",
      });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new HoldfastError("usage", "standard input is not UTF-8 text; nothing was typed", {
      hint: "convert it first, for example: iconv -f latin1 -t utf8; press special keys by name: holdfast keys --help",
      cause,
    });
  }
}
