/**
 * Finds Holdfast's own keys in terminal input before a host sees it. A sequence that a chunk cuts off waits for the next chunk, so the caller must
 * `flush` after a while: a lone Escape is a key too. Text between paste marks is text.
 */
const PASTE_BEGIN = "\x1b[200~";
const PASTE_END = "\x1b[201~";

export interface Keys<K extends string> {
  /** Input before the key, for the host. */
  bytes: Buffer;
  key: K | undefined;
}

export class KeyReader<K extends string> {
  readonly #keys: ReadonlyMap<string, K>;
  readonly #forms: readonly string[];
  #held = "";
  #isPasting = false;

  constructor(keys: Readonly<Record<K, readonly string[]>>) {
    const entries = Object.entries(keys) as [K, readonly string[]][];
    this.#keys = new Map(entries.flatMap(([key, forms]) => forms.map((form) => [form, key] as const)));
    this.#forms = [...this.#keys.keys(), PASTE_BEGIN, PASTE_END];
  }

  /** True if an incomplete sequence waits for its rest. */
  get holds(): boolean {
    return this.#held !== "";
  }

  /** Scans each chunk once, however many keys it contains. In latin1 each byte is one character. */
  push(chunk: Uint8Array): Keys<K>[] {
    const text = this.#held + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1");
    const found: Keys<K>[] = [];
    let from = 0;
    for (const { 0: form, index } of text.matchAll(this.#pattern())) {
      if (form === PASTE_BEGIN || form === PASTE_END) this.#isPasting = form === PASTE_BEGIN;
      const key = this.#isPasting ? undefined : this.#keys.get(form);
      if (key === undefined) continue;
      found.push({ bytes: Buffer.from(text.slice(from, index), "latin1"), key });
      from = index + form.length;
    }
    this.#held = cutOff(text.slice(from), this.#forms);
    const rest = text.slice(from, text.length - this.#held.length);
    if (rest !== "") found.push({ bytes: Buffer.from(rest, "latin1"), key: undefined });
    return found;
  }

  #pattern(): RegExp {
    return new RegExp(this.#forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"), "g");
  }

  /** Returns the held bytes, which are not the beginning of a key. */
  flush(): Buffer {
    const held = Buffer.from(this.#held, "latin1");
    this.#held = "";
    return held;
  }
}

/** The longest end of the text that is the beginning of a sequence. */
function cutOff(text: string, forms: readonly string[]): string {
  const longest = Math.max(...forms.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(-length);
    if (forms.some((form) => form.length > length && form.startsWith(end))) return end;
  }
  return "";
}
