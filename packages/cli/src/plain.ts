/** Text of others (names, paths, objectives) can never move the cursor, set a title or reach a clipboard. */
export function plain(text: string): string {
  return text.replace(/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/gu, (character) => (character === "\u200d" ? character : "\ufffd"));
}
