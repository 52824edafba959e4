/** Makes text of others (names, paths, objectives) unable to move the cursor, set a title or reach the clipboard. */
export function plain(text: string): string {
  if (isPrintableAscii(text)) return text;
  return text.replace(/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/gu, (character) => (character === "\u200d" ? character : "\ufffd"));
}

/** True for nearly every text. Compiling the Unicode classes costs more than a table of a hundred sessions. */
function isPrintableAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
