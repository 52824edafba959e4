/** Text of others (names, paths, objectives) can never move the cursor, set a title or reach a clipboard. */
export function plain(text: string): string {
  if (isPrintableAscii(text)) return text;
  return text.replace(/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/gu, (character) => (character === "\u200d" ? character : "\ufffd"));
}

/** Nearly every text is: compiling the Unicode classes costs more than a table of a hundred sessions. */
function isPrintableAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
