/** Plays recordings on a headless terminal and keeps one frame per change of the screen, with idle times shortened. */
import { openEmulator, parseNow } from "../../packages/cli/src/render/emulator.ts";
import { type Run, runsOf } from "../../packages/cli/src/render/style.ts";
import type { Cast } from "./cast.ts";

/** Output within this time is one frame: programs draw a screen in several writes. */
const ONE_FRAME_S = 0.04;
/** Longest times before an event, so that a busy machine does not make a slow film: a typed character, other output, and around captions. */
const LONGEST_S = { key: 0.055, output: 0.4, caption: 1.4 };
/** A longer part between two captions plays faster. */
const LONGEST_PART_S = 7;
/** Between two recordings: the time to read that the terminal is closed. */
const CLOSED_S = 2.8;
/** Before the loop starts again. */
const END_S = 4;

export interface Row {
  runs: Run[];
  /** The column of the cursor, when it is in this row. */
  cursor?: number;
}

export interface Frame {
  at: number;
  rows: Row[];
}

export interface Film {
  columns: number;
  rows: number;
  /** In seconds, with the pause at the end. */
  duration: number;
  frames: Frame[];
  captions: { at: number; text: string }[];
  /** When a terminal is open. */
  windows: { from: number; to: number }[];
}

export function filmOf(casts: readonly Cast[]): Film {
  const film: Film = { columns: 0, rows: 0, duration: 0, frames: [], captions: [], windows: [] };
  let now = 0;
  for (const [index, cast] of casts.entries()) {
    if (index > 0) now += CLOSED_S;
    film.columns = Math.max(film.columns, cast.columns);
    film.rows = Math.max(film.rows, cast.rows);
    const from = now;
    now = play(cast, now, film);
    film.windows.push({ from, to: now });
  }
  film.duration = now + END_S;
  const last = film.windows.at(-1);
  if (last) last.to = film.duration;
  return film;
}

/** Adds the frames and captions of one recording that starts at `from`; returns when it ends. */
function play(cast: Cast, from: number, film: Film): number {
  const terminal = openEmulator({ columns: cast.columns, rows: cast.rows, scrollback: 0 });
  let isCursorHidden = false;
  for (const [final, hides] of [
    ["h", false],
    ["l", true],
  ] as const) {
    terminal.parser.registerCsiHandler({ prefix: "?", final }, (modes) => {
      if (modes.includes(25)) isCursorHidden = hides;
      return false;
    });
  }
  const screen = (): Row[] => {
    const { viewportY, cursorX, cursorY } = terminal.buffer.active;
    return Array.from({ length: cast.rows }, (_, y) => {
      const line = terminal.buffer.active.getLine(viewportY + y);
      const runs = line ? runsOf(line) : [];
      return !isCursorHidden && y === cursorY ? { runs, cursor: cursorX } : { runs };
    });
  };

  let now = from;
  const gaps = gapsIn(cast);
  let frame: Frame = { at: from, rows: screen() };
  film.frames.push(frame);
  for (const [index, [, kind, text]] of cast.events.entries()) {
    now += gaps[index] ?? 0;
    if (kind === "m") {
      film.captions.push({ at: now, text });
      continue;
    }
    parseNow(terminal, text);
    if (now - frame.at > ONE_FRAME_S) {
      frame = { at: now, rows: [] };
      film.frames.push(frame);
    }
    frame.rows = screen();
  }
  terminal.dispose();
  return now;
}

/** The time before each event, shortened. */
function gapsIn({ events }: Cast): number[] {
  const gaps = events.map(([at, kind, text], index) => {
    const [last, before] = events[index - 1] ?? [at, "m"];
    const longest = kind === "m" || before === "m" ? LONGEST_S.caption : text.length === 1 ? LONGEST_S.key : LONGEST_S.output;
    return Math.min(at - last, longest);
  });
  const captions = events.flatMap(([, kind], index) => (kind === "m" ? [index] : []));
  for (const [part, from] of captions.entries()) {
    const to = captions[part + 1] ?? gaps.length;
    const length = gaps.slice(from + 1, to).reduce((sum, gap) => sum + gap, 0);
    if (length > LONGEST_PART_S)
      for (let index = from + 1; index < to; index++) gaps[index] = ((gaps[index] ?? 0) * LONGEST_PART_S) / length;
  }
  return gaps;
}
