/**
 * The dialog on an agent's screen in which it asks for leave, for those that cannot be answered otherwise, or not any more. It is answered by
 * keys only when all of it can be seen and the choice that Enter takes is the one that is meant.
 */
import { inOneLine, type Screen } from "@holdfast/contract";

export interface ScreenChannel {
  /** The dialog's first line, and its last, which is at most three lines above the foot of the screen: below it there is nothing to read. */
  from: RegExp;
  to: RegExp;
  /** What the agent says below it about something else, line by line. */
  notice?: RegExp;
  /** Something that is asked about is not shown. */
  hidden?: RegExp;
  /** Where choices are told apart by letters and marks, not by colour alone. Without it the dialog is shown in the inbox, and that is all. */
  keys?: {
    /** The line of the choice that Enter takes, wherever the mark is; and what it must be. */
    marked: RegExp;
    allows: RegExp;
    allow: readonly string[];
    deny: readonly string[];
    /** Other keys that allow what is asked for, in a dialog whose lines show this. */
    others?: readonly { shows: RegExp; allow: readonly string[] }[];
  };
}

export interface Dialog {
  /** Its lines without their frames: two that are the same ask for the same. */
  text: string;
  /** What it asks about, in one line. */
  about: string;
  /** Its keys allow what it asks for, once, and nothing else. */
  canAllow: boolean;
  /** The keys that do. */
  allow: readonly string[];
  canDeny: boolean;
}

const FOOT = 3;

/** Undefined: there is none, or not all of it is on the screen. */
export function dialogOn({ from, to, notice, hidden, keys }: ScreenChannel, screen: Pick<Screen, "lines">): Dialog | undefined {
  const full = screen.lines.filter((line) => line.trim() !== "");
  const lines = full.slice(0, 1 + full.findLastIndex((line) => !notice?.test(line)));
  const end = lines.findLastIndex((line) => to.test(line));
  if (end < 0 || end < lines.length - FOOT) return undefined;
  const begin = lines.findLastIndex((line, i) => i <= end && from.test(line));
  if (begin < 0) return undefined;
  const own = lines.slice(begin, end + 1);
  const marked = keys ? own.filter((line) => keys.marked.test(line)) : [];
  const isWhole = keys !== undefined && !own.some((line) => hidden?.test(line));
  // What is asked about may look like a choice itself.
  const other = keys?.others?.find(({ shows }) => shows.test(own.join("\n")));
  const canAllow = isWhole && marked.length === 1 && (other !== undefined || keys.allows.test(marked[0] ?? ""));
  const text = own.map(unframed).filter(Boolean);
  const choices = keys ? own.findIndex((line) => keys.marked.test(line)) : -1;
  const about = said(choices > 0 ? own.slice(0, choices).map(unframed).filter(Boolean) : text);
  return { text: text.join("\n"), about: inOneLine(about), canAllow, allow: other?.allow ?? keys?.allow ?? [], canDeny: isWhole };
}

/** A heading often ends with what is said again below it. */
function said([heading = "", ...rest]: readonly string[]): string {
  const more = rest.filter((line) => !heading.endsWith(` ${line}`));
  return [heading.replace(/^\? /, ""), ...more].join(" · ").replaceAll(/\s+/g, " ");
}

export function unframed(line: string): string {
  return line.replaceAll(/[─╌│┃╭╮╰╯]/g, "").trim();
}
