/** Returns the last lines of a program's output as plain text, to show how it ended. */
import { stripVTControlCharacters } from "node:util";
import { Recording } from "./recording.ts";

const READ_BYTES = 16 * 1024;
const LINES = 5;
const LINE_CHARACTERS = 300;

export function lastLines(directory: string): string[] {
  const recording = new Recording(directory);
  const size = recording.size();
  const text = recording.read(Math.max(0, size - READ_BYTES), READ_BYTES).toString("utf8");
  return stripVTControlCharacters(text)
    .split("\n")
    .map((line) => (line.trimEnd().split("\r").at(-1) ?? "").replace(/\p{Cc}/gu, "").trimEnd())
    .filter((line) => line.trim() !== "")
    .slice(-LINES)
    .map((line) => line.slice(0, LINE_CHARACTERS));
}
