/** Output that does more to a terminal than draw on it. None of it may remain, and no `MARK`. */
export const DANGEROUS: readonly { what: string; bytes: string }[] = [
  { what: "a title", bytes: "\x1b]0;MARK\x07" },
  { what: "a title that ends with ST", bytes: "\x1b]2;MARK\x1b\\" },
  { what: "a title as screen has it", bytes: "\x1bkMARK\x1b\\" },
  { what: "a title in 8 bits", bytes: "\x9d0;MARK\x9c" },
  { what: "the clipboard", bytes: "\x1b]52;c;TUFSSw==MARK\x07" },
  { what: "the clipboard through tmux", bytes: "\x1bPtmux;\x1b\x1b]52;c;MARK\x07\x1b\\" },
  { what: "a link", bytes: "\x1b]8;;javascript:MARK\x1b\\" },
  { what: "a notification", bytes: "\x1b]9;MARK\x07\x1b]777;notify;MARK\x07" },
  { what: "device attributes", bytes: "\x1b[c\x1b[>c\x1b[=c\x1bZ" },
  { what: "device attributes in 8 bits", bytes: "\x9bc\x9b>c" },
  { what: "status and cursor position", bytes: "\x1b[5n\x1b[6n\x1b[?6n\x9b6n" },
  { what: "the version", bytes: "\x1b[>0q" },
  { what: "settings and capabilities", bytes: "\x1bP$qMARK\x1b\\\x1bP+qMARK\x1b\\\x90$qMARK\x9c" },
  { what: "modes", bytes: "\x1b[?2004$p" },
  { what: "colours", bytes: "\x1b]10;?\x07\x1b]4;1;?\x07" },
  { what: "the window", bytes: "\x1b[18t\x1b[21t\x1b[8;5;5t" },
  { what: "the answer to ENQ", bytes: "\x05" },
  { what: "mouse, focus and paste", bytes: "\x1b[?1000h\x1b[?1006h\x1b[?1004h\x1b[?2004h" },
  { what: "the keyboard", bytes: "\x1b[?1h\x1b=\x1b[>1u\x1b[=5u\x1b[?u\x1b[>4;2m" },
  { what: "printing", bytes: "\x1b[5i\x1b[4i" },
  { what: "APC, PM and SOS", bytes: "\x1b_MARK\x1b\\\x1b^MARK\x1b\\\x1bXMARK\x1b\\\x9fMARK\x9c" },
  { what: "an image", bytes: "\x1bPqMARK\x1b\\" },
];

/** Characters that make text look like other text. */
export const REORDERING = [..."\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"];

/** 8-bit controls as characters, because programs write them as UTF-8. */
export function dangerousLines(): string[] {
  return [
    ...DANGEROUS.map(({ bytes }, index) => `${index}<${bytes}>`),
    ...REORDERING.map((character, index) => `${DANGEROUS.length + index}<${character}>`),
  ];
}

/** Everything except lines of printable characters. */
export function harmIn(text: string): string[] {
  const found = text.replaceAll("\n", "").match(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]|MARK/gu);
  return found ? [...new Set(found)] : [];
}
