/**
 * Filters a terminal's output to sequences that draw: text, colours, the cursor, erasing, scrolling, the alternate screen. Only sequences known
 * to do nothing but draw pass. Everything else is removed: titles, the clipboard, links, images, queries to the terminal (their answers would be
 * typed into the reader's shell), and keyboard and mouse modes that would stay on afterwards. 8-bit forms become 7-bit ones.
 *
 * Works on a stream: a sequence cut off at the end of a piece waits for the next piece, in bounded memory.
 */
const ESC = "\x1b";

/** Longer than any drawing sequence; a longer sequence is removed up to its end. */
const LONGEST = 1024;

/** Start of anything but text: ENQ asks for an answer; ESC and the C1 controls begin sequences. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const SPECIAL = /[\x05\x1b\x80-\x9f]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const STRING_END = /[\x07\x18\x1a\x1b\x9c]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const CONTROL_END = /[\x18\x1a\x1b@-~]/g;

const DRAWING_CONTROL = /^(?:[\d;:]*[@A-HJ-MPSXZ`abdefgmrsu]|\d*[IT]|\?\d*[JK]|!p)$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const REPEAT = /^(?:\x1b\[|\x9b)[\d;:]*b$/;
const DRAWING_MODES = new Set(["4", "20"]);
const DRAWING_PRIVATE_MODES = new Set(["5", "6", "7", "25", "45", "47", "69", "1047", "1048", "1049", "2026"]);
const DRAWING_ESCAPE = /^(?:[78cDEHMNOno|}~]|#[3-68]|[()*+\-./]["%&]?[0-9A-Za-z<>=`])$/;

export class Harmless {
  #held = "";
  /** The kind of removed sequence that the input is inside of. */
  #skipping: "string" | "control" | undefined;
  /** True if something was removed since the last character. A terminal would not repeat that character, so REP is removed too. */
  #unrepeatable = false;

  push(text: string): string {
    const input = this.#held === "" ? text : this.#held + text;
    this.#held = "";
    let output = "";
    // Text between `from` and `at` passes unchanged, and is copied only when something after it is cut out.
    let from = 0;
    let at = 0;
    while (at < input.length) {
      if (this.#skipping) {
        at = this.#skip(input, at);
        from = at;
        continue;
      }
      SPECIAL.lastIndex = at;
      const next = SPECIAL.exec(input)?.index ?? input.length;
      if (next > at) this.#unrepeatable = false;
      at = next;
      if (at === input.length) break;
      const sequence = this.#repeated(input, measure(input, at), at);
      if (sequence === undefined) {
        this.#held = input.slice(at);
        return output + input.slice(from, at);
      }
      if (sequence.drawn !== AS_IT_IS) output += input.slice(from, at) + sequence.drawn;
      at = sequence.end;
      if (sequence.drawn === AS_IT_IS) continue;
      from = at;
      this.#skipping = sequence.skip;
    }
    return from === 0 ? input : output + input.slice(from);
  }

  #repeated(input: string, sequence: Sequence | undefined, at: number): Sequence | undefined {
    if (!sequence) return undefined;
    const passes = this.#unrepeatable && REPEAT.test(input.slice(at, sequence.end)) ? { ...sequence, drawn: "" } : sequence;
    if (passes.drawn === "") this.#unrepeatable = true;
    return passes;
  }

  #skip(input: string, from: number): number {
    const pattern = this.#skipping === "control" ? CONTROL_END : STRING_END;
    pattern.lastIndex = from;
    const end = pattern.exec(input)?.index;
    if (end === undefined) return input.length;
    if (input[end] !== ESC) {
      this.#skipping = undefined;
      return end + 1;
    }
    // A lone ESC at the end may be half of a string terminator.
    if (end + 1 === input.length) {
      this.#held = ESC;
      return input.length;
    }
    const terminates = this.#skipping === "string" && input[end + 1] === "\\";
    this.#skipping = undefined;
    return terminates ? end + 2 : end;
  }
}

const AS_IT_IS = undefined;

interface Sequence {
  end: number;
  /** The output for this sequence. */
  drawn: string | typeof AS_IT_IS;
  /** The sequence continues, and the rest of it is removed. */
  skip?: "string" | "control";
}

/** Undefined if the sequence is incomplete. */
function measure(input: string, start: number): Sequence | undefined {
  const first = input.charCodeAt(start);
  if (first === 0x05) return { end: start + 1, drawn: "" };
  if (first === 0x1b && start + 1 === input.length) return undefined;
  const kind = first === 0x1b ? (input[start + 1] ?? "") : String.fromCharCode(first - 0x40);
  const after = first === 0x1b ? start + 2 : start + 1;
  if (kind === "[") return measureControl(input, { start, from: after });
  // DCS, OSC, SOS, PM, APC, and the title sequence of screen.
  if (/[P\]X^_k]/.test(kind)) return { end: after, drawn: "", skip: "string" };
  if (first === 0x1b) return measureEscape(input, start + 1);
  return { end: after, drawn: DRAWING_ESCAPE.test(kind) ? ESC + kind : "" };
}

function measureControl(input: string, { start, from }: { start: number; from: number }): Sequence | undefined {
  for (let at = from; at < input.length; at++) {
    const code = input.charCodeAt(at);
    if (code >= 0x40 && code <= 0x7e) {
      const body = input.slice(from, at + 1);
      const asItIs = input[start] === ESC && DRAWING_CONTROL.test(body);
      return { end: at + 1, drawn: asItIs ? AS_IT_IS : drawnControl(body) };
    }
    // The sequence was aborted; the aborting character is processed next.
    if (code > 0x7e || code === 0x18 || code === 0x1a || code === 0x1b) return { end: at, drawn: carriedOut(input.slice(from, at)) };
    if (at - from > LONGEST) return { end: at + 1, drawn: carriedOut(input.slice(from, at + 1)), skip: "control" };
  }
  return undefined;
}

/** Control characters inside a sequence are executed at once, as in a terminal. */
function carriedOut(body: string): string {
  return body.replaceAll("\x05", "").replace(/[ -~]/g, "");
}

function drawnControl(body: string): string {
  const carried = carriedOut(body);
  if (carried !== "" || body.includes("\x05")) return carried + drawnControl(body.replace(/\p{Cc}/gu, ""));
  if (DRAWING_CONTROL.test(body)) return `${ESC}[${body}`;
  const modes = /^(\??)([\d;]*)([hl])$/.exec(body);
  if (!modes) return "";
  const [, prefix, list = "", final] = modes;
  const allowed = prefix === "?" ? DRAWING_PRIVATE_MODES : DRAWING_MODES;
  const kept = list.split(";").filter((mode) => allowed.has(mode));
  return kept.length > 0 ? `${ESC}[${prefix}${kept.join(";")}${final}` : "";
}

function measureEscape(input: string, from: number): Sequence | undefined {
  let at = from;
  while (at < input.length && at - from < LONGEST && input.charCodeAt(at) >= 0x20 && input.charCodeAt(at) < 0x30) at++;
  if (at === input.length) return undefined;
  const final = input.charCodeAt(at);
  if (final < 0x30 || final > 0x7e) return { end: at, drawn: "" };
  return { end: at + 1, drawn: DRAWING_ESCAPE.test(input.slice(from, at + 1)) ? AS_IT_IS : "" };
}
