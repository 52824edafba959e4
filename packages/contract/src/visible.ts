/**
 * Makes foreign text safe to show before a person agrees to it: nothing in it is hidden, reordered or starts a new line. Every character that a
 * terminal or a page would not draw as itself is named. No schema library here: the CLI's hot path loads this file.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u2800]|\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}/gu;

export function visible(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(HIDDEN, named);
}

/** C0 characters as Unicode's control pictures: `␊` is a line feed. */
function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Longest text in one line. */
export const ONE_LINE = 400;

/** Shortens a text to one line by cutting out its middle, and adds the total length. The end of a command matters as much as its beginning. */
export function inOneLine(text: string, most = ONE_LINE): string {
  const whole = text.trim();
  const line = whole.length > most ? undefined : visible(whole);
  if (line !== undefined && line.length <= most) return line;
  const mark = ` …[${whole.length} characters in all]… `;
  const half = Math.floor((most - mark.length) / 2);
  const head = withoutHalves(visible(withoutHalves(whole.slice(0, half))).slice(0, half));
  const tail = withoutHalves(visible(withoutHalves(whole.slice(-half))).slice(-half));
  return `${head}${mark}${tail}`;
}

/** Removes half a surrogate pair at either end. */
function withoutHalves(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}
