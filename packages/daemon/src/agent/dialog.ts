/**
 * The permission dialog on an agent's screen, for requests that cannot, or can no longer, be answered in another way. Keys answer it only if all of
 * it is visible and Enter takes the intended choice.
 */
import { inOneLine, type Screen } from "@holdfast/contract";

export interface ScreenChannel {
  /** The dialog's first line, and its last, which is among the last three lines of the screen. */
  from: RegExp;
  to: RegExp;
  /** Lines below the dialog that are about something else. */
  notice?: RegExp;
  /** Text which shows that part of the request is hidden. */
  hidden?: RegExp;
  /** For dialogs that mark choices by characters, not by colour alone. Without it the inbox only shows the dialog. */
  keys?: {
    /** The line of the marked choice, which Enter takes; and the form it must have to allow. */
    marked: RegExp;
    allows: RegExp;
    allow: readonly string[];
    deny: readonly string[];
    /** Other keys that allow the request, in a dialog that shows this. */
    others?: readonly { shows: RegExp; allow: readonly string[] }[];
  };
}

export interface Dialog {
  /** Its lines without frames. Dialogs with the same text ask for the same. */
  text: string;
  /** The subject of the dialog, in one line. */
  about: string;
  /** The keys allow this request once, and nothing else. */
  canAllow: boolean;
  /** The keys that allow. */
  allow: readonly string[];
  canDeny: boolean;
}

const FOOT = 3;

/** Undefined: there is no dialog, or not all of it is on the screen. */
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
  // More than one marked line means that the request itself looks like a choice.
  const other = keys?.others?.find(({ shows }) => shows.test(own.join("\n")));
  const canAllow = isWhole && marked.length === 1 && (other !== undefined || keys.allows.test(marked[0] ?? ""));
  const text = own.map(unframed).filter(Boolean);
  const choices = keys ? own.findIndex((line) => keys.marked.test(line)) : -1;
  const about = said(choices > 0 ? own.slice(0, choices).map(unframed).filter(Boolean) : text);
  return { text: text.join("\n"), about: inOneLine(about), canAllow, allow: other?.allow ?? keys?.allow ?? [], canDeny: isWhole };
}

/** Drops lines that the heading already contains at its end. */
function said([heading = "", ...rest]: readonly string[]): string {
  const more = rest.filter((line) => !heading.endsWith(` ${line}`));
  return [heading.replace(/^\? /, ""), ...more].join(" · ").replaceAll(/\s+/g, " ");
}

export function unframed(line: string): string {
  return line.replaceAll(/[─╌│┃╭╮╰╯]/g, "").trim();
}
