/**
 * The input line: the effect of keys, and its rendering. Keys come from node:readline, which knows the terminals' sequences. Its line editor is
 * not used: it has neither several lines nor a search, and takes over rows of the screen.
 */

import { widthOf } from "../../text/fit.ts";
import { plain } from "../../text/plain.ts";
import { EditBuffer } from "./buffer.ts";
import type { History } from "./history.ts";

export interface Key {
  name?: string | undefined;
  sequence?: string | undefined;
  ctrl?: boolean | undefined;
  meta?: boolean | undefined;
  shift?: boolean | undefined;
}

/** Actions for the editor's owner. */
export type Effect = "nothing" | "changed" | "submit" | "interrupt" | "leave" | "unfold" | "suspend" | "redraw";

/** Words that may replace the text between `from` and the cursor. */
export interface Candidates {
  from: number;
  words: string[];
}

export interface EditorOptions {
  history: History;
  complete(text: string, cursor: number): Promise<Candidates>;
  /** Called when the view changes without a key press. */
  onChange(): void;
}

export interface EditorView {
  rows: string[];
  cursor: { row: number; column: number };
  /** Completion candidates. */
  menu: string[];
}

interface Menu extends Candidates {
  /** Index of the current candidate. */
  chosen: number;
}

const PROMPT = "› ";
const MENU_ROWS = 4;

export class Editor {
  readonly #buffer = new EditBuffer();
  readonly #options: EditorOptions;
  #menu: Menu | undefined;
  #search: { words: string; at: number; before: string } | undefined;
  #paste: string[] | undefined;

  constructor(options: EditorOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#buffer.isEmpty && !this.#search && !this.#paste;
  }

  get text(): string {
    return this.#buffer.text;
  }

  set(text: string): void {
    this.#buffer.set(text);
  }

  /** Returns the text, clears it, and adds it to the history. */
  take(): string {
    const text = this.#buffer.take();
    this.#options.history.add(text);
    this.#menu = undefined;
    return text;
  }

  press(text: string | undefined, key: Key): Effect {
    if (key.name === "paste-start") this.#paste = [];
    if (this.#paste) return this.#pasted(this.#paste, text, key);
    if (this.#search) return this.#searching(this.#search, text, key);
    if (key.name === "tab" && !key.shift) return this.#tab();
    const hadMenu = this.#menu !== undefined;
    this.#menu = undefined;
    const chord = chordOf(key);
    const effect = EFFECTS[chord];
    if (chord === "ctrl+d" && !this.#buffer.isEmpty) this.#buffer.delete();
    else if (effect) return effect;
    else if (chord === "return") return this.#enter();
    else if (chord === "up" || chord === "ctrl+p") this.#up();
    else if (chord === "down" || chord === "ctrl+n") this.#down();
    else if (chord === "ctrl+r") this.#search = { words: "", at: this.#options.history.texts.length, before: this.#buffer.text };
    else if (EDITS[chord]) EDITS[chord](this.#buffer);
    else if (isTyped(text, key)) this.#buffer.insert(text);
    else return hadMenu ? "changed" : "nothing";
    return "changed";
  }

  /** At most `mostRows` rows around the cursor; each leaves a column for it. */
  view(width: number, mostRows: number): EditorView {
    const room = Math.max(4, width - PROMPT.length - 1);
    if (this.#search) return this.#viewSearch(room);
    const { rows, row, column } = layOut(this.#buffer.text, this.#buffer.cursor, room);
    const first = Math.max(0, Math.min(row - Math.floor(mostRows / 2), rows.length - mostRows));
    const shown = rows.slice(first, first + mostRows);
    return {
      rows: shown.map((text, index) => (first + index === 0 ? PROMPT : "  ") + text),
      cursor: { row: row - first, column: column + PROMPT.length },
      menu: this.#viewMenu(width),
    };
  }

  #enter(): Effect {
    const { text, cursor } = this.#buffer;
    if (text[cursor - 1] === "\\" && (cursor === text.length || text[cursor] === "\n")) {
      this.#buffer.replace(cursor - 1, cursor, "\n");
      return "changed";
    }
    return "submit";
  }

  #up(): void {
    if (this.#buffer.up()) return;
    const older = this.#options.history.older(this.#buffer.text);
    if (older !== undefined) this.#buffer.set(older);
  }

  #down(): void {
    if (this.#buffer.down()) return;
    const newer = this.#options.history.newer();
    if (newer !== undefined) this.#buffer.set(newer);
  }

  #pasted(paste: string[], text: string | undefined, key: Key): Effect {
    if (key.name === "paste-start") return "nothing";
    if (key.name !== "paste-end") {
      paste.push(text ?? key.sequence ?? "");
      return "nothing";
    }
    this.#paste = undefined;
    this.#search = undefined;
    this.#menu = undefined;
    const lines = paste.join("").replace(/\r\n?/g, "\n").split("\n");
    this.#buffer.insert(lines.map((line) => line.split("\t").map(printable).join("\t")).join("\n"));
    return "changed";
  }

  #searching(search: { words: string; at: number; before: string }, text: string | undefined, key: Key): Effect {
    const { history } = this.#options;
    const chord = chordOf(key);
    const find = (words: string, before: number) => {
      const at = history.search(words, before);
      if (at >= 0) search.at = at;
      search.words = words;
      const found = history.texts[search.at];
      if (words !== "" && at >= 0 && found !== undefined) this.#buffer.set(found);
    };
    if (chord === "ctrl+r") find(search.words, search.at);
    else if (chord === "backspace") find([...search.words].slice(0, -1).join(""), history.texts.length);
    else if (isTyped(text, key)) find(search.words + text, Math.min(history.texts.length, search.at + 1));
    else {
      this.#search = undefined;
      if (chord === "ctrl+g" || chord === "ctrl+c" || chord === "escape") {
        this.#buffer.set(search.before);
        return "changed";
      }
      // Any other key applies to the text that was found.
      return this.press(text, key);
    }
    return "changed";
  }

  #viewSearch(room: number): EditorView {
    const { words = "", at = 0 } = this.#search ?? {};
    const found = words !== "" && this.#options.history.texts[at]?.includes(words);
    const label = `(${found || words === "" ? "search" : "no match"}: ${words}`;
    const { rows } = layOut(`${label}) ${this.#buffer.text.split("\n")[0]}`, 0, room);
    return { rows: rows.slice(0, 2), cursor: { row: 0, column: Math.min(widthOf(label), room) }, menu: [] };
  }

  #tab(): Effect {
    if (this.#menu) {
      this.#choose(this.#menu, this.#menu.chosen + 1);
      return "changed";
    }
    const { text, cursor } = this.#buffer;
    this.#options.complete(text, cursor).then(
      (candidates) => {
        if (this.#buffer.text === text && this.#buffer.cursor === cursor && !this.#search) this.#offer(candidates);
      },
      // A failed completion offers nothing.
      () => {},
    );
    return "nothing";
  }

  #offer({ from, words }: Candidates): void {
    const [first] = words;
    if (first === undefined) return;
    const { cursor } = this.#buffer;
    const common = words.reduce(commonStart, first);
    if (words.length === 1) this.#buffer.replace(from, cursor, first.endsWith("/") ? first : `${first} `);
    else if (common.length > cursor - from && common.startsWith(this.#buffer.text.slice(from, cursor)))
      this.#buffer.replace(from, cursor, common);
    if (words.length > 1) this.#menu = { from, words, chosen: -1 };
    this.#options.onChange();
  }

  #choose(menu: Menu, index: number): void {
    menu.chosen = index % menu.words.length;
    this.#buffer.replace(menu.from, this.#buffer.cursor, menu.words[menu.chosen] ?? "");
  }

  #viewMenu(width: number): string[] {
    if (!this.#menu) return [];
    const { words, chosen } = this.#menu;
    const rows: string[] = [""];
    for (const [index, word] of words.entries()) {
      const text = plain(index === chosen ? `[${word}]` : ` ${word} `);
      if (rows.at(-1) !== "" && widthOf(`${rows.at(-1)}${text}`) > width - 2) rows.push("");
      rows[rows.length - 1] += text;
    }
    const at = Math.max(0, rows.findIndex((row) => row.includes(`[${words[chosen]}]`)) - MENU_ROWS + 1);
    const more = rows.length - at - MENU_ROWS;
    return [...rows.slice(at, at + MENU_ROWS), ...(more > 0 ? [` … ${words.length} in all`] : [])];
  }
}

const EFFECTS: Readonly<Record<string, Effect>> = {
  "ctrl+c": "interrupt",
  "ctrl+d": "leave",
  "ctrl+o": "unfold",
  "ctrl+z": "suspend",
  "ctrl+l": "redraw",
};

const EDITS: Readonly<Record<string, (buffer: EditBuffer) => void>> = {
  "meta+return": (buffer) => buffer.insert("\n"),
  enter: (buffer) => buffer.insert("\n"),
  left: (buffer) => buffer.left(),
  "ctrl+b": (buffer) => buffer.left(),
  right: (buffer) => buffer.right(),
  "ctrl+f": (buffer) => buffer.right(),
  "ctrl+left": (buffer) => buffer.wordLeft(),
  "meta+left": (buffer) => buffer.wordLeft(),
  "meta+b": (buffer) => buffer.wordLeft(),
  "ctrl+right": (buffer) => buffer.wordRight(),
  "meta+right": (buffer) => buffer.wordRight(),
  "meta+f": (buffer) => buffer.wordRight(),
  home: (buffer) => buffer.lineStart(),
  "ctrl+a": (buffer) => buffer.lineStart(),
  end: (buffer) => buffer.lineEnd(),
  "ctrl+e": (buffer) => buffer.lineEnd(),
  "ctrl+home": (buffer) => buffer.start(),
  "ctrl+end": (buffer) => buffer.end(),
  backspace: (buffer) => buffer.backspace(),
  "ctrl+h": (buffer) => buffer.backspace(),
  delete: (buffer) => buffer.delete(),
  "ctrl+k": (buffer) => buffer.killToEnd(),
  "ctrl+u": (buffer) => buffer.killToStart(),
  "ctrl+w": (buffer) => buffer.killWordLeft(),
  "meta+backspace": (buffer) => buffer.killWordLeft(),
  "meta+d": (buffer) => buffer.killWordRight(),
  "ctrl+delete": (buffer) => buffer.killWordRight(),
  "ctrl+y": (buffer) => buffer.yank(),
  "meta+y": (buffer) => buffer.yankBefore(),
  "ctrl+t": (buffer) => buffer.transpose(),
  "ctrl+_": (buffer) => buffer.undo(),
};

function chordOf({ name, sequence, ctrl, meta }: Key): string {
  if (sequence === "\x1f") return "ctrl+_";
  return `${ctrl ? "ctrl+" : ""}${meta && name !== "escape" ? "meta+" : ""}${name ?? ""}`;
}

function isTyped(text: string | undefined, { ctrl, meta }: Key): text is string {
  return text !== undefined && text !== "" && !ctrl && !meta && printable(text) === text;
}

/** Removes characters that would move the cursor. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "");
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}

/** The rows of a text, and the cursor's position in them. */
function layOut(text: string, cursor: number, room: number): { rows: string[]; row: number; column: number } {
  const rows = [""];
  let width = 0;
  let place = { row: 0, column: 0 };
  let at = 0;
  for (const character of text) {
    const shown = character === "\t" ? "    " : plain(character);
    const wide = character === "\n" ? 0 : widthOf(shown);
    if (character !== "\n" && width + wide > room) {
      rows.push("");
      width = 0;
    }
    if (at === cursor) place = { row: rows.length - 1, column: width };
    at += character.length;
    if (character === "\n") {
      rows.push("");
      width = 0;
      continue;
    }
    rows[rows.length - 1] += shown;
    width += wide;
  }
  if (cursor >= at) place = { row: rows.length - 1, column: width };
  return { rows, ...place };
}
