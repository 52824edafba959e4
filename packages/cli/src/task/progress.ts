/** Progress of a task file: redrawn bars on a terminal, one line per change elsewhere. */
import { color } from "../text/color.ts";
import { formatDuration } from "../text/duration.ts";
import { cut } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import type { TaskItem } from "./parse.ts";
import type { Change } from "./work.ts";

export interface Standing {
  state: "before" | "open" | "running" | "done" | "failed" | "blocked";
  session: string | null;
  agent: string | null;
  turn: number;
  waits: string;
  why: string | null;
  began: number | null;
  ended: number | null;
}

export class Standings {
  readonly items: readonly TaskItem[];
  readonly #all: Map<TaskItem, Standing>;

  constructor(items: readonly TaskItem[]) {
    this.items = items;
    this.#all = new Map(items.map((item) => [item, begin(item)]));
  }

  of(item: TaskItem): Standing {
    return this.#all.get(item) ?? begin(item);
  }

  take(item: TaskItem, change: Change, now: number): void {
    const standing = this.of(item);
    if (change.what === "begun") Object.assign(standing, { state: "running", session: change.session, agent: change.agent, began: now });
    else if (change.what === "turn") Object.assign(standing, { turn: change.turn, waits: "" });
    else if (change.what === "waits") standing.waits = change.for;
    else if (change.what === "done") Object.assign(standing, { state: "done", ended: now });
    else if (change.what === "failed") Object.assign(standing, { state: "failed", ended: now, why: change.why });
    else Object.assign(standing, { state: "blocked", why: `it depends on ${change.by.label}, which is not done` });
  }

  in(...states: Standing["state"][]): TaskItem[] {
    return this.items.filter((item) => states.includes(this.of(item).state));
  }
}

function begin({ done }: TaskItem): Standing {
  return {
    state: done ? "before" : "open",
    session: null,
    agent: null,
    turn: 0,
    waits: "",
    why: null,
    began: null,
    ended: null,
  };
}

/** One line, for a pipe or a log. */
export function lineOf(item: TaskItem, change: Change, standing: Standing): string | undefined {
  const { label, title, turns } = item;
  if (change.what === "begun") {
    const how = change.goesOn ? "continues" : "started";
    return plain(`${label} ${how}: ${title} (${change.agent}, session ${change.session})`);
  }
  if (change.what === "turn") return turns.length > 1 ? `${label} turn ${change.turn} of ${turns.length} done` : undefined;
  if (change.what === "waits") return change.for === "" ? undefined : plain(`${label} waits for ${change.for}`);
  if (change.what === "done") return `${label} done in ${formatDuration((standing.ended ?? 0) - (standing.began ?? 0))}`;
  if (change.what === "failed") return plain(`${label} failed: ${change.why}`);
  return plain(`${label} not started: ${standing.why}`);
}

const BAR = 20;
const SMALL_BAR = 6;
const MARKS: Record<Standing["state"], string> = { before: "✓", open: "·", running: "▸", done: "✓", failed: "✗", blocked: "–" };

/** Fits the terminal's height: running items always, then failed ones, then the rest in order. */
export function drawn(
  file: string,
  standings: Standings,
  { now, columns, rows }: { now: number; columns: number; rows: number },
): string[] {
  const { items } = standings;
  const done = standings.in("done", "before").length;
  const head = `${plain(file)} ${bar(done, items.length, BAR)} ${done} of ${items.length} done`;
  const room = Math.max(1, rows - 3);
  const weight = (item: TaskItem) => ["running", "failed", "open", "blocked", "done", "before"].indexOf(standings.of(item).state);
  const shown = items.length <= room ? [...items] : items.toSorted((a, b) => weight(a) - weight(b)).slice(0, room - 1);
  const left = items.length - shown.length;
  const lines = shown.toSorted((a, b) => a.line - b.line).map((item) => itemLine(item, standings.of(item), { now, columns }));
  return [color("bold", cut(head, columns - 1)), ...lines, ...(left > 0 ? [color("dim", `  … and ${left} more`)] : [])];
}

function itemLine(item: TaskItem, standing: Standing, { now, columns }: { now: number; columns: number }): string {
  const { state, turn, waits, began, ended, session, why } = standing;
  const time = began === null ? [] : [formatDuration(Math.max(0, (ended ?? now) - began))];
  const turns =
    state === "running" && item.turns.length > 1
      ? [`${bar(turn, item.turns.length, SMALL_BAR)} turn ${turn + 1}/${item.turns.length}`]
      : [];
  const after = state === "open" && item.after.length > 0 ? [`after ${item.after.map(({ label }) => label).join(", ")}`] : [];
  const more = state === "running" ? [...(waits === "" ? [] : [`waits for ${waits}`]), session ?? ""] : why === null ? [] : [why];
  const rest = [...turns, ...time, ...after, ...more].join("  ");
  const title = cut(item.title.split("\n")[0] ?? "", Math.max(12, columns - rest.length - item.label.length - 8));
  const line = cut(plain(`  ${MARKS[state]} ${item.label} ${title}  ${rest}`.trimEnd()), columns - 1);
  if (state === "failed") return color("red", line);
  if (state === "running") return waits === "" ? color("green", line) : color("yellow", line);
  return state === "before" || state === "blocked" ? color("dim", line) : line;
}

function bar(part: number, whole: number, width: number): string {
  const full = whole === 0 ? 0 : Math.round((part / whole) * width);
  return `${"█".repeat(full)}${"░".repeat(width - full)}`;
}

/** A block of lines at the bottom of a terminal; each drawing replaces the previous one. */
export class LiveBlock {
  readonly #out: { write(text: string): unknown };
  #height = 0;

  constructor(out: { write(text: string): unknown }) {
    this.#out = out;
  }

  draw(lines: readonly string[]): void {
    const up = this.#height === 0 ? "" : `\x1b[${this.#height}A\r`;
    this.#out.write(`${up}\x1b[J${lines.join("\n")}\n`);
    this.#height = lines.length;
  }
}
