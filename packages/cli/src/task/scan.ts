/**
 * Scans a markdown checklist as bytes: its items, the positions of their boxes, and the lines of each item. The file is read as Latin-1, one
 * character per byte, so that writing it back preserves every byte in any encoding. Only text for a person or an agent is decoded (`decoded`).
 * For the same reason blanks are only spaces and tabs here: any other byte may be half a character.
 *
 * Only the outermost boxes are items. Indented lines below an item, including other boxes, belong to it. Boxes in code and comments are ignored.
 */

export interface ScannedItem {
  /** Line number, from 1. */
  line: number;
  /** Offset of the character between the brackets, from the beginning of the file. */
  box: number;
  done: boolean;
  /** The line without its box; identifies the item after edits. */
  key: string;
  /** List marker: `-`, or `3.` in a numbered list. */
  marker: string;
  /** Text after the box. */
  rest: string;
  body: Line[];
}

export interface Line {
  number: number;
  text: string;
  /** Inside a code block, where nothing has a meaning. */
  code: boolean;
}

export interface Scanned {
  /** Lines above the first item. */
  head: Line[];
  items: ScannedItem[];
  /** Lines that look like an item but are not. */
  slips: Line[];
}

const BOM = "\u00ef\u00bb\u00bf";
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)\[([ xX])\](?:[ \t]+(.*))?$/;
/** `- []`, `-[ ]`, `- [x ]`, `- [ ]text`: boxes to a person, but not valid. A link is not one. */
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
    // A paragraph that is not indented ends the list. Comments and turns belong to the item at any indentation.
    else if (isOpen && !(afterBlank && !blank && !code && indent <= item.indent && !isAbout(text))) item.body.push(line);
    else isOpen = false;
    if (!found && !code && !commented && SLIP.test(text) && (item === undefined || indent <= item.indent + 1)) scanned.slips.push(line);
    afterBlank = blank;
  }
  return scanned;
}

/** Decodes bytes to readable text. */
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

/** A tab advances to the next multiple of four columns. */
function widthOf(blanks: string): number {
  let width = 0;
  for (const blank of blanks) width = blank === "\t" ? width + 4 - (width % 4) : width + 1;
  return width;
}
