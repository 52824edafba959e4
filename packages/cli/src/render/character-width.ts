import type { IUnicodeVersionProvider } from "@xterm/headless";

// xterm's built-in table is Unicode 6 and gives an emoji one column. tmux and current terminals give it two, as do programs that position the
// cursor after one.
export const characterWidths: IUnicodeVersionProvider = {
  version: "holdfast",
  wcwidth: widthOf,
  charProperties(codepoint, preceding) {
    const width = widthOf(codepoint);
    const precedingWidth = (preceding >> 1) & 3;
    const joins = width === 0 && precedingWidth > 0;
    return ((joins ? precedingWidth : width) << 1) | Number(joins);
  },
};

const known = new Map<number, 0 | 1 | 2>();

function widthOf(codepoint: number): 0 | 1 | 2 {
  if (codepoint < 0x20) return 0;
  if (codepoint < 0x7f) return 1;
  const seen = known.get(codepoint);
  if (seen !== undefined) return seen;
  const width = measure(String.fromCodePoint(codepoint));
  known.set(codepoint, width);
  return width;
}

const ZERO = /^[\p{Cc}\p{Mn}\p{Me}\p{Cf}\u{1160}-\u{11ff}]$/u;
const WIDE =
  /^[\p{Emoji_Presentation}\u{1100}-\u{115f}\u{2329}\u{232a}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{a960}-\u{a97f}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe10}-\u{fe19}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\u{20000}-\u{3fffd}]$/u;

function measure(character: string): 0 | 1 | 2 {
  if (character !== "\u00ad" && ZERO.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
