/** A text with a cursor, and the edits on both. Independent of terminals. */

interface State {
  text: string;
  cursor: number;
}

/** Most steps that can be undone. */
const MOST_UNDO = 200;
const MOST_KILLED = 20;

const WORD = /[\p{L}\p{N}_]/u;

export class EditBuffer {
  #text = "";
  #cursor = 0;
  #undo: State[] = [];
  /** Consecutively typed letters are undone together. */
  #typing = false;
  #killed: string[] = [];
  /** The last key killed text: another kill appends to it. */
  #killing = false;
  /** The start of the last yank, and the index of its killed text. */
  #yanked: { from: number; which: number } | undefined;

  get text(): string {
    return this.#text;
  }

  get cursor(): number {
    return this.#cursor;
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  /** Moves the cursor to the end. */
  set(text: string): void {
    this.#keep();
    this.#text = text;
    this.#cursor = text.length;
    this.#settle();
  }

  insert(text: string): void {
    if (!this.#typing || text.length > 2 || /\s/.test(text)) this.#keep();
    this.#text = this.#text.slice(0, this.#cursor) + text + this.#text.slice(this.#cursor);
    this.#cursor += text.length;
    this.#settle();
    this.#typing = true;
  }

  replace(from: number, to: number, text: string): void {
    this.#keep();
    this.#text = this.#text.slice(0, from) + text + this.#text.slice(to);
    this.#cursor = from + text.length;
    this.#settle();
  }

  left(): void {
    this.#move(this.#before());
  }

  right(): void {
    this.#move(this.#after());
  }

  wordLeft(): void {
    this.#move(this.#wordStart());
  }

  wordRight(): void {
    this.#move(this.#wordEnd());
  }

  lineStart(): void {
    this.#move(this.#startOfLine());
  }

  lineEnd(): void {
    this.#move(this.#endOfLine());
  }

  start(): void {
    this.#move(0);
  }

  end(): void {
    this.#move(this.#text.length);
  }

  /** False if there is no line above. */
  up(): boolean {
    const start = this.#startOfLine();
    if (start === 0) return false;
    const above = this.#text.lastIndexOf("\n", start - 2) + 1;
    this.#move(Math.min(above + (this.#cursor - start), start - 1));
    return true;
  }

  /** False if there is no line below. */
  down(): boolean {
    const end = this.#endOfLine();
    if (end === this.#text.length) return false;
    const next = this.#text.indexOf("\n", end + 1);
    const column = this.#cursor - this.#startOfLine();
    this.#move(Math.min(end + 1 + column, next < 0 ? this.#text.length : next));
    return true;
  }

  backspace(): void {
    this.#remove(this.#before(), this.#cursor);
  }

  delete(): void {
    this.#remove(this.#cursor, this.#after());
  }

  killToEnd(): void {
    const end = this.#endOfLine();
    this.#kill(this.#cursor, end === this.#cursor ? this.#after() : end);
  }

  killToStart(): void {
    const start = this.#startOfLine();
    this.#kill(start === this.#cursor ? this.#before() : start, this.#cursor);
  }

  killWordLeft(): void {
    this.#kill(this.#wordStart(), this.#cursor);
  }

  killWordRight(): void {
    this.#kill(this.#cursor, this.#wordEnd());
  }

  yank(): void {
    const text = this.#killed.at(-1);
    if (text === undefined) return;
    const from = this.#cursor;
    this.replace(from, from, text);
    this.#yanked = { from, which: this.#killed.length - 1 };
  }

  /** Replaces the yanked text with the one killed before it. */
  yankBefore(): void {
    if (!this.#yanked) return;
    const { from, which } = this.#yanked;
    const before = (which + this.#killed.length - 1) % this.#killed.length;
    this.replace(from, this.#cursor, this.#killed[before] ?? "");
    this.#yanked = { from, which: before };
  }

  /** Swaps the characters before and under the cursor. */
  transpose(): void {
    const at = this.#cursor === this.#text.length ? this.#before() : this.#cursor;
    if (at === 0 || this.#text.length < 2) return;
    const before = boundaryBefore(this.#text, at);
    const after = boundaryAfter(this.#text, at);
    const swapped = this.#text.slice(at, after) + this.#text.slice(before, at);
    this.replace(before, after, swapped);
  }

  undo(): void {
    const state = this.#undo.pop();
    if (!state) return;
    this.#text = state.text;
    this.#cursor = state.cursor;
    this.#settle();
  }

  /** Returns and clears the text; nothing is left to undo. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    this.#cursor = 0;
    this.#undo = [];
    this.#settle();
    return text;
  }

  #move(to: number): void {
    this.#cursor = to;
    this.#settle();
  }

  #remove(from: number, to: number): void {
    if (from === to) return;
    this.replace(from, to, "");
  }

  #kill(from: number, to: number): void {
    if (from === to) return;
    const text = this.#text.slice(from, to);
    const goesOn = this.#killing ? this.#killed.pop() : undefined;
    const isBefore = to === this.#cursor;
    this.#killed.push(goesOn === undefined ? text : isBefore ? text + goesOn : goesOn + text);
    if (this.#killed.length > MOST_KILLED) this.#killed.shift();
    this.replace(from, to, "");
    this.#killing = true;
  }

  #keep(): void {
    this.#undo.push({ text: this.#text, cursor: this.#cursor });
    if (this.#undo.length > MOST_UNDO) this.#undo.shift();
  }

  #settle(): void {
    this.#typing = false;
    this.#killing = false;
    this.#yanked = undefined;
  }

  #startOfLine(): number {
    return this.#cursor === 0 ? 0 : this.#text.lastIndexOf("\n", this.#cursor - 1) + 1;
  }

  #endOfLine(): number {
    const end = this.#text.indexOf("\n", this.#cursor);
    return end < 0 ? this.#text.length : end;
  }

  #before(): number {
    return boundaryBefore(this.#text, this.#cursor);
  }

  #after(): number {
    return boundaryAfter(this.#text, this.#cursor);
  }

  #wordStart(): number {
    let at = this.#cursor;
    while (at > 0 && !WORD.test(this.#text[at - 1] as string)) at--;
    while (at > 0 && WORD.test(this.#text[at - 1] as string)) at--;
    return at;
  }

  #wordEnd(): number {
    let at = this.#cursor;
    while (at < this.#text.length && !WORD.test(this.#text[at] as string)) at++;
    while (at < this.#text.length && WORD.test(this.#text[at] as string)) at++;
    return at;
  }
}

/** One visible character may be several code points: an accent, a family. Created on first use, because it costs milliseconds. */
let segmenter: Intl.Segmenter | undefined;

/** Longer than any single visible character. */
const LONGEST = 64;

function boundaryBefore(text: string, at: number): number {
  if (at === 0) return 0;
  if (/^[\x20-\x7e\n]{2}$/.test(text.slice(Math.max(0, at - 1), at + 1).padEnd(2, " "))) return at - 1;
  segmenter ??= new Intl.Segmenter();
  const from = Math.max(0, at - LONGEST);
  let last = from;
  for (const { index } of segmenter.segment(text.slice(from, at))) last = from + index;
  return last;
}

function boundaryAfter(text: string, at: number): number {
  if (at === text.length) return at;
  segmenter ??= new Intl.Segmenter();
  for (const { segment } of segmenter.segment(text.slice(at, at + LONGEST))) return at + segment.length;
  return at;
}
