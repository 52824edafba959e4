/**
 * The checklist in a markdown file, as bytes: which lines are items, where their boxes are, and which lines belong to each. The file is read
 * as Latin-1, a character for each byte, so that what is put back is what was there, whatever its encoding; only what a person or an agent
 * reads is decoded (`decoded`). For the same reason blanks are spaces and tabs here, and nothing else: other bytes may be half a character.
 *
 * Only the outermost boxes are items: what is indented below one, other boxes too, is part of it. Boxes in code and in comments are none.
 */

export interface ScannedItem {
  /** From 1. */
  line: number;
  /** Where the character between the brackets is, from the beginning of the file. */
  box: number;
  done: boolean;
  /** Its line without the box, by which it is found again. */
  key: string;
  /** What marks it in its list: `-`, or `3.` in one with numbers. */
  marker: string;
  /** What stands behind the box. */
  rest: string;
  body: Line[];
}

export interface Line {
  number: number;
  text: string;
  /** In a block of code: nothing in it means anything. */
  code: boolean;
}

export interface Scanned {
  /** Lines above the first item. */
  head: Line[];
  items: ScannedItem[];
  /** Lines that look like an item and are none. */
  slips: Line[];
}

const BOM = "\u00ef\u00bb\u00bf";
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)\[([ xX])\](?:[ \t]+(.*))?$/;
/** `- []`, `-[ ]`, `- [x ]`, `- [ ]text`: a box to a person. A link is not. */
const SLIP = /^([ \t]*)[-*+][ \t]*\[[ \t]*[xX]?[ \t]*\](?![([:])/;
const FENCE = /^[ \t]*(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;

export function scan(bytes: string): Scanned {
  const scanned: Scanned = { head: [], items: [], slips: [] };
  let item: (ScannedItem & { indent: number }) | undefined;
  let fence: string | undefined;
  let inComment = false;
  let isOpen = false;
  let afterBlank = false;
  for (const { number, at, text } of linesOf(bytes)) {
    const code: boolean = fence !== undefined || FENCE.test(text);
    const commented = inComment;
    const line = { number, text, code };
    fence = fenceAfter(fence, text);
    if (!code) inComment = commentAfter(inComment, text);
    const found = code || commented ? null : ITEM.exec(text);
    const indent = widthOf(/^[ \t]*/.exec(text)?.[0] ?? "");
    const blank = /^[ \t]*$/.test(text);
    if (found && (item === undefined || indent <= item.indent + 1)) {
      const [, before = "", marker = "", gap = "", mark, rest = ""] = found;
      const box = at + before.length + marker.length + gap.length + 1;
      item = { line: number, box, done: mark !== " ", key: `${before}${marker}${gap}${rest}`, marker, rest, body: [], indent };
      scanned.items.push(item);
      isOpen = true;
    } else if (item === undefined) scanned.head.push(line);
    else if (HEADING.test(text) && !code) isOpen = false;
    // A paragraph that is not indented ends the list; what says something of the item counts wherever it stands.
    else if (isOpen && !(afterBlank && !blank && !code && indent <= item.indent && !isAbout(text))) item.body.push(line);
    else isOpen = false;
    if (!found && !code && !commented && SLIP.test(text) && (item === undefined || indent <= item.indent + 1)) scanned.slips.push(line);
    afterBlank = blank;
  }
  return scanned;
}

/** What a person wrote, of bytes. */
export function decoded(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

function isAbout(text: string): boolean {
  return /^[ \t]*(?:<!--|Turn[ \t]+\d+[ \t]*:)/i.test(text);
}

function* linesOf(bytes: string): Generator<{ number: number; at: number; text: string }> {
  let at = bytes.startsWith(BOM) ? BOM.length : 0;
  for (let number = 1; at <= bytes.length; number++) {
    const end = bytes.indexOf("\n", at);
    const text = bytes.slice(at, end === -1 ? undefined : end);
    yield { number, at, text: text.endsWith("\r") ? text.slice(0, -1) : text };
    if (end === -1) return;
    at = end + 1;
  }
}

function fenceAfter(fence: string | undefined, text: string): string | undefined {
  const [, mark] = FENCE.exec(text) ?? [];
  if (fence === undefined) return mark;
  const closes = mark?.startsWith(fence) && /^[ \t]*[`~]+[ \t]*$/.test(text);
  return closes ? undefined : fence;
}

function commentAfter(inComment: boolean, text: string): boolean {
  const [opened, closed] = [text.lastIndexOf("<!--"), text.lastIndexOf("-->")];
  if (opened === -1 && closed === -1) return inComment;
  return opened > closed;
}

/** A tab is as wide as up to the next fourth column. */
function widthOf(blanks: string): number {
  let width = 0;
  for (const blank of blanks) width = blank === "\t" ? width + 4 - (width % 4) : width + 1;
  return width;
}
