const ESC = "\x1b";
const PASTE_BEGIN = `${ESC}[200~`;
const PASTE_END = `${ESC}[201~`;

export type Key = { type: "text" | "paste"; text: string } | { type: "enter" | "backspace" | "clear" | "cancel" | "end" | "escape" };

const CONTROLS: Record<string, Key> = {
  "\r": { type: "enter" },
  "\n": { type: "enter" },
  "\b": { type: "backspace" },
  "\x7f": { type: "backspace" },
  "\x15": { type: "clear" },
  "\x03": { type: "cancel" },
  "\x04": { type: "end" },
};

/** Converts terminal input to keys. A sequence may arrive in pieces. `flush` means that nothing more follows: a lone Esc is then the key. */
export class KeyReader {
  #rest = "";

  read(chunk: string): Key[] {
    this.#rest += chunk;
    const keys: Key[] = [];
    while (this.#rest !== "" && this.#readOne(keys));
    return keys;
  }

  flush(): Key[] {
    if (this.#rest === "" || this.#rest.startsWith(PASTE_BEGIN)) return [];
    this.#rest = "";
    return [{ type: "escape" }];
  }

  #readOne(keys: Key[]): boolean {
    if (this.#rest[0] === ESC) return this.#readSequence(keys);
    const text = /^[^\p{Cc}]+/u.exec(this.#rest)?.[0];
    const control = CONTROLS[this.#rest[0] ?? ""];
    if (text) keys.push({ type: "text", text });
    else if (control) keys.push(control);
    this.#rest = this.#rest.slice(text?.length ?? 1);
    return true;
  }

  #readSequence(keys: Key[]): boolean {
    const afterEsc = this.#rest.slice(1);
    if (this.#rest.startsWith(PASTE_BEGIN)) {
      const end = this.#rest.indexOf(PASTE_END);
      if (end === -1) return false;
      keys.push({ type: "paste", text: this.#rest.slice(PASTE_BEGIN.length, end).replaceAll(/\r\n?/g, "\n") });
      this.#rest = this.#rest.slice(end + PASTE_END.length);
      return true;
    }
    // Arrows and other keys that this small editor ignores.
    const sequence = /^(?:\[[0-?]*[ -/]*[@-~]|O.)/.exec(afterEsc)?.[0];
    if (sequence) {
      this.#rest = afterEsc.slice(sequence.length);
      return true;
    }
    if (/^(?:$|O$|\[[0-?]*[ -/]*$)/.test(afterEsc)) return false;
    keys.push({ type: "escape" });
    this.#rest = afterEsc;
    return true;
  }
}
