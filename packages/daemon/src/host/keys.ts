/** Keys in tmux's notation: `C-c`, `M-x`, `Up`, `F5`, `S-Tab`, or one character. */
import { HoldfastError } from "@holdfast/contract";

export interface Key {
  /** In tmux's notation and validated: safe on a tmux command line after quoting. */
  name: string;
  control: boolean;
  meta: boolean;
  shift: boolean;
  /** A named key, or the character itself. */
  base: string;
}

/** Terminal encodings: the letter after `ESC [` (or `ESC O` in application mode), or the number before `~`. */
const LETTERS: Readonly<Record<string, string>> = {
  Up: "A",
  Down: "B",
  Right: "C",
  Left: "D",
  Home: "H",
  End: "F",
  F1: "P",
  F2: "Q",
  F3: "R",
  F4: "S",
};
const NUMBERS: Readonly<Record<string, number>> = {
  IC: 2,
  DC: 3,
  PageUp: 5,
  PageDown: 6,
  F5: 15,
  F6: 17,
  F7: 18,
  F8: 19,
  F9: 20,
  F10: 21,
  F11: 23,
  F12: 24,
};
const PLAIN: Readonly<Record<string, string>> = { Enter: "\r", Tab: "\t", Escape: "\x1b", Space: " ", BSpace: "\x7f" };
const ALIASES: Readonly<Record<string, string>> = {
  PgUp: "PageUp",
  PgDn: "PageDown",
  Esc: "Escape",
  Backspace: "BSpace",
  Delete: "DC",
  Insert: "IC",
  Return: "Enter",
  BTab: "S-Tab",
};

export function parseKey(text: string): Key {
  const match = /^((?:[CMS]-)*)(.+)$/su.exec(ALIASES[text] ?? text);
  const base = match?.[2] === undefined ? "" : (ALIASES[match[2]] ?? match[2]);
  const modifiers = match?.[1] ?? "";
  const known = base in LETTERS || base in NUMBERS || base in PLAIN || ([...base].length === 1 && !/\p{C}/u.test(base));
  if (!known) {
    throw new HoldfastError("usage", `${JSON.stringify(text)} is not a key`, {
      hint: "use a character, or Enter Tab Escape Space BSpace Up Down Left Right Home End PageUp PageDown IC DC F1…F12, after C- M- S-",
    });
  }
  return {
    name: modifiers + base,
    base,
    control: modifiers.includes("C-"),
    meta: modifiers.includes("M-"),
    shift: modifiers.includes("S-"),
  };
}

/** The bytes a terminal sends for the key. */
export function encodeKey(key: Key, modes: { applicationCursor: boolean }): string {
  const modifier = 1 + (key.shift ? 1 : 0) + (key.meta ? 2 : 0) + (key.control ? 4 : 0);
  const letter = LETTERS[key.base];
  if (letter !== undefined) {
    if (modifier > 1) return `\x1b[1;${modifier}${letter}`;
    return modes.applicationCursor || key.base.startsWith("F") ? `\x1bO${letter}` : `\x1b[${letter}`;
  }
  const number = NUMBERS[key.base];
  if (number !== undefined) return modifier > 1 ? `\x1b[${number};${modifier}~` : `\x1b[${number}~`;
  if (key.base === "Tab" && key.shift) return "\x1b[Z";
  const plain = PLAIN[key.base] ?? (key.shift ? key.base.toUpperCase() : key.base);
  return (key.meta ? "\x1b" : "") + (key.control ? controlled(plain) : plain);
}

/** Ctrl with a letter or one of `@[\]^_?` gives a control character. With any other character Ctrl has no effect. */
function controlled(character: string): string {
  if (character === " ") return "\0";
  if (character === "?") return "\x7f";
  const code = character.toUpperCase().charCodeAt(0);
  return character.length === 1 && code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : character;
}

/** Keys that the client handles instead of the program: the name shown to people, and every form in which a terminal may send the key. */
export interface ClientKeys {
  /** Detaches from the session. */
  detachKey: string;
  detachBytes: string[];
  /** Switches to the session that has waited longest for a person. */
  nextKey: string;
  nextBytes: string[];
}

/** Takes the names in tmux's notation. */
export function clientKeysOf(names: { detachKey: string; nextKey: string }): ClientKeys {
  return {
    detachKey: keyForPeople(names.detachKey),
    detachBytes: formsOf(names.detachKey),
    nextKey: keyForPeople(names.nextKey),
    nextBytes: formsOf(names.nextKey),
  };
}

function formsOf(name: string): string[] {
  const key = parseKey(name);
  const forms = [encodeKey(key, { applicationCursor: false })];
  if ([...key.base].length === 1) {
    // A program may have switched the terminal to one of two extended key encodings.
    const modifier = 1 + (key.meta ? 2 : 0) + (key.control ? 4 : 0);
    const code = key.base.codePointAt(0);
    forms.push(`\x1b[${code};${modifier}u`, `\x1b[27;${modifier};${code}~`);
  }
  return forms;
}

/** `C-\` becomes `Ctrl+\`. */
export function keyForPeople(key: string): string {
  return key.replace(/^C-/, "Ctrl+").replace(/^M-/, "Alt+");
}
