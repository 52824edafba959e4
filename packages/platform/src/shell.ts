/** Quotes any text as one word of a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same for people to read and copy: unquoted if possible, with unprintable characters as bash and zsh write them. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  // The zero-width joiner is part of visible characters.
  const unseen = /(?!\u200d)(?:\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp})/gu;
  const escaped = text.replace(/[\\']/g, "\\$&").replace(unseen, escapeOf);
  return text.search(unseen) === -1 ? shellQuote(text) : `$'${escaped}'`;
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\e" };

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const wide = code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  return ESCAPES[character] ?? (code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : wide);
}
