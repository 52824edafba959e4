/**
 * Writes asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/), which every player reads: a header, then one event per line. Output is
 * text: a character split between samples is written with its second half, and invalid UTF-8 as U+FFFD. A marker shows where a stretch without
 * times begins, and where output was not recorded; the latter also adds a line to the output.
 */
import { gapNote, gapText } from "../recording/gap-note.ts";
import type { Step } from "../recording/timeline.ts";
import { Harmless } from "../render/harmless.ts";
import { formatBytes } from "../text/bytes.ts";

export interface CastHeader {
  title: string;
  command: string;
  /** Milliseconds since 1970. */
  startedAt: number | null;
}

/** Ends an open escape sequence. */
const CANCEL = "\x18";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const ALTERNATE = /\x1b\[\?(?:47|1047|1049)[hl]/g;

const UNKNOWN_SIZE = { columns: 120, rows: 40 };

export async function* asciicast(steps: AsyncIterable<Step>, header: CastHeader): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const harmless = new Harmless();
  let begun = false;
  let last = 0;
  let events = 0;
  let isAlternate = false;
  let atLineStart = true;
  const event = (at: number, code: "o" | "r" | "m", data: string) => {
    events++;
    return `${JSON.stringify([at / 1000, code, data])}\n`;
  };
  for await (const step of steps) {
    last = step.at;
    if (!begun) {
      begun = true;
      const isSize = step.kind === "resize";
      yield head(header, isSize ? step : UNKNOWN_SIZE);
      if (isSize) continue;
    }
    if (step.kind === "untimed") yield event(step.at, "m", `untimed: when these ${formatBytes(step.bytes)} came is not known`);
    else if (step.kind === "gap") {
      yield event(step.at, "m", gapText(step.gap));
      const open = harmless.push(`${decoder.decode()}${CANCEL}`).replace(CANCEL, "");
      // A full-screen program has no lines.
      const line = isAlternate ? "" : `${atLineStart ? "" : "\r\n"}${gapNote(step.gap)}\r\n`;
      if (open + line !== "") yield event(step.at, "o", open + line);
      atLineStart = true;
    } else if (step.kind === "resize") yield event(step.at, "r", `${step.columns}x${step.rows}`);
    else if (step.kind === "output") {
      const text = harmless.push(decoder.decode(step.bytes, { stream: true }));
      if (text === "") continue;
      isAlternate = text.match(ALTERNATE)?.at(-1)?.endsWith("h") ?? isAlternate;
      atLineStart = text.endsWith("\n");
      yield event(step.at, "o", text);
    }
  }
  if (!begun) yield head(header, UNKNOWN_SIZE);
  const rest = harmless.push(decoder.decode());
  // Players refuse a recording without events.
  if (rest !== "" || events === 0) yield event(last, "o", rest);
}

function head({ title, command, startedAt }: CastHeader, size: { columns: number; rows: number }): string {
  const timestamp = startedAt === null ? {} : { timestamp: Math.floor(startedAt / 1000) };
  const env = { TERM: "xterm-256color" };
  return `${JSON.stringify({ version: 2, width: size.columns, height: size.rows, ...timestamp, title, command, env })}\n`;
}
