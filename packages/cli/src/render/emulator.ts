import headless, { type Terminal } from "@xterm/headless";
import { characterWidths } from "./character-width.ts";

// A headless terminal for reading recordings. It answers no queries and keeps no title or clipboard. No single sequence can make it loop,
// exhaust memory or discard lines that have scrolled off.
export function openEmulator({ scrollback, ...wanted }: { columns: number; rows: number; scrollback: number }): Terminal {
  const { columns, rows } = boundedSize(wanted);
  const terminal = new headless.Terminal({
    cols: columns,
    rows,
    scrollback,
    allowProposedApi: true,
    logLevel: "off",
    // As tmux does. Otherwise the cursor's line is cut off when the terminal gets narrower.
    reflowCursorLine: true,
  });
  terminal.unicode.register(characterWidths);
  terminal.unicode.activeVersion = characterWidths.version;
  limitRepetition(terminal);
  guardErasing(terminal);
  return terminal;
}

// Sizes come from a file: a damaged one must not exhaust memory.
export function boundedSize({ columns, rows }: { columns: number; rows: number }): { columns: number; rows: number } {
  return { columns: Math.min(Math.max(columns, 2), 2000), rows: Math.min(Math.max(rows, 1), 1000) };
}

// Returns once the text is parsed. After user input, xterm parses the first write synchronously. Otherwise it would parse on a timer, where an
// exception would end the process.
export function parseNow(terminal: Terminal, text: string): void {
  terminal.input("", true);
  terminal.write(text);
}

// xterm repeats as often as the parameter says, up to 2^31 times.
const MOST_LINES = 1000;

function limitRepetition(terminal: Terminal): void {
  for (const final of ["I", "L", "M", "S", "T", "Z"]) {
    terminal.parser.registerCsiHandler({ final }, ([count]) => Number(count) > MOST_LINES);
  }
  // Repeating the last character must not scroll more lines than the sequence has bytes, or the scrollback overflows unread.
  terminal.parser.registerCsiHandler({ final: "b" }, ([count]) => Number(count) > terminal.cols);
}

function guardErasing(terminal: Terminal): void {
  const ignored = ([extent]: (number | number[])[]): boolean => {
    if (extent === 3) return true; // keep the scrollback: a person has read it
    // Erasing up to the cursor in the last column: xterm 6.0.0 uses a wrong row, which may not exist or may have scrolled off.
    return extent === 1 && terminal.buffer.active.cursorX >= terminal.cols - 1;
  };
  terminal.parser.registerCsiHandler({ final: "J" }, ignored);
  terminal.parser.registerCsiHandler({ prefix: "?", final: "J" }, ignored);
}
