/**
 * Text of others as people must see it before they agree to it: nothing in it is hidden, reordered or begins a new line. Everything that
 * a terminal or a page would not draw as itself is named. No schema library here: the CLI's hot path loads this file.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u115f\u1160\u2800\u3164\uffa0]|\u034f|\p{Variation_Selector}|[\u17b4\u17b5]|(?! )\p{Zs}/gu;

export function visible(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(HIDDEN, named);
}

/** C0 by the pictures that Unicode has for them: `␊` is a line's end. */
function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** How much of a text is shown in one line. */
export const ONE_LINE = 400;

/** In one line: what is left out is in the middle, and how much that is. The end of a command is as telling as its beginning. */
export function inOneLine(text: string, most = ONE_LINE): string {
  const line = visible(text.trim());
  if (line.length <= most) return line;
  const half = Math.floor((most - 30) / 2);
  const [head, tail] = [[...line.slice(0, half)], [...line.slice(-half)]].map((part) => part.filter(isWhole).join(""));
  return `${head} …[${line.length - 2 * half} of ${line.length} characters left out]… ${tail}`;
}

function isWhole(character: string): boolean {
  return !/^[\ud800-\udfff]$/.test(character);
}
