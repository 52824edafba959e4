/**
 * Bold, italic, strikethrough, code and links within a line. In a line that is still arriving, an open mark is shown as if it will be closed. In
 * a complete line, an unclosed mark is shown literally.
 */
import { type Span, STYLE } from "../paint.ts";

/** Marks open at the start of a line's part, because the part before it has already been shown. */
export interface Open {
  bold: boolean;
  italic: boolean;
  strike: boolean;
  /** Number of backticks; 0 if none. */
  code: number;
}

export const NOTHING_OPEN: Open = { bold: false, italic: false, strike: false, code: 0 };

export interface Inline {
  spans: Span[];
  /** The open marks of each span. */
  opens: Open[];
}

const LINK = /^!?\[((?:[^[\]\\]|\\.|\[[^\]]*\])*)\]\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/;
const AUTOLINK = /^<((?:https?|mailto|ftp):[^\s<>]+)>/;
const WORD = /[\p{L}\p{N}]/u;

export function parseInline(source: string, options: { open?: Open; partial?: boolean; base?: string } = {}): Inline {
  const open: Open = { ...(options.open ?? NOTHING_OPEN) };
  const partial = options.partial ?? false;
  const spans: Span[] = [];
  const opens: Open[] = [];
  const put = (text: string, at: number, extra = "") => {
    if (text === "") return;
    const sgr = sgrOf(open, options.base ?? "", extra);
    const last = spans.at(-1);
    if (last && last.sgr === sgr && last.at + last.text.length === at) {
      last.text += text;
      return;
    }
    spans.push({ text, sgr, at });
    opens.push({ ...open });
  };
  let i = 0;
  while (i < source.length) {
    const rest = source.slice(i, i + 4096);
    if (open.code > 0) {
      const end = closingTicks(source, i, open.code);
      put(source.slice(i, end < 0 ? source.length : end), i);
      i = end < 0 ? source.length : end + open.code;
      if (end >= 0) open.code = 0;
      continue;
    }
    const character = source[i] as string;
    if (character === "\\" && /^\\[!-/:-@[-`{-~]/.test(rest)) {
      put(source[i + 1] as string, i + 1);
      i += 2;
      continue;
    }
    if (character === "`") {
      const ticks = (/^`+/.exec(rest) as RegExpExecArray)[0].length;
      const isClosed = closingTicks(source, i + ticks, ticks) >= 0;
      if (isClosed || (partial && i + ticks < source.length)) open.code = ticks;
      else put("`".repeat(ticks), i);
      i += ticks;
      continue;
    }
    const link = character === "[" || character === "!" ? LINK.exec(rest) : null;
    if (link) {
      const [whole, text = "", url = ""] = link;
      put(text.replace(/\\(.)/g, "$1") || url, i + whole.length, STYLE.underline);
      if (text !== "" && url !== "" && text !== url) put(` (${url})`, i + whole.length, STYLE.dim);
      i += whole.length;
      continue;
    }
    const auto = character === "<" ? AUTOLINK.exec(rest) : null;
    if (auto) {
      put(auto[1] as string, i + 1, STYLE.underline);
      i += auto[0].length;
      continue;
    }
    const mark = markAt(source, i);
    if (mark) {
      const { name, length } = mark;
      if (open[name] && closes(source, i, length)) open[name] = false;
      else if (!open[name] && opensAt(source, i, { length, partial })) open[name] = true;
      else put(source.slice(i, i + length), i);
      i += length;
      continue;
    }
    const end = nextMark(source, i + 1);
    put(source.slice(i, end), i);
    i = end;
  }
  return { spans, opens };
}

function sgrOf(open: Open, base: string, extra: string): string {
  if (open.code > 0) return STYLE.code;
  const parts = [base, open.bold ? STYLE.bold : "", open.italic ? STYLE.italic : "", open.strike ? STYLE.strike : "", extra];
  return [...new Set(parts.filter((part) => part !== ""))].join(";");
}

/** Start of the next run of exactly this many backticks. */
function closingTicks(source: string, from: number, ticks: number): number {
  for (const { 0: run, index } of source.slice(from).matchAll(/`+/g)) if (run.length === ticks) return from + index;
  return -1;
}

function markAt(source: string, i: number): { name: "bold" | "italic" | "strike"; length: number } | undefined {
  const two = source.slice(i, i + 2);
  if (two === "**" || two === "__") return { name: "bold", length: 2 };
  if (two === "~~") return { name: "strike", length: 2 };
  return source[i] === "*" || source[i] === "_" ? { name: "italic", length: 1 } : undefined;
}

/** True after a word. An underscore inside a word is part of it. */
function closes(source: string, i: number, length: number): boolean {
  const before = source[i - 1] ?? "x";
  const after = source[i + length] ?? "";
  return !/\s/.test(before) && !(source[i] === "_" && WORD.test(after));
}

function opensAt(source: string, i: number, { length, partial }: { length: number; partial: boolean }): boolean {
  const before = source[i - 1] ?? "";
  const after = source[i + length] ?? "";
  if (after === "" || /\s/.test(after)) return false;
  if (source[i] === "_" && WORD.test(before)) return false;
  if (partial) return true;
  const mark = source.slice(i, i + length);
  for (let at = source.indexOf(mark, i + length + 1); at >= 0; at = source.indexOf(mark, at + 1))
    if (closes(source, at, length)) return true;
  return false;
}

function nextMark(source: string, from: number): number {
  const found = source.slice(from).search(/[\\`![<*_~]/);
  return found < 0 ? source.length : from + found;
}
