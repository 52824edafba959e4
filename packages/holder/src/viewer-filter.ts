/**
 * Removes the parts of a program's output that viewers must not get.
 *
 * Queries to the terminal (cursor position, device attributes, colours, clipboard): the holder answers them once; a viewer's own
 * terminal would answer too, and its answer would arrive as typed keys. Switches of the alternate screen: a viewer shows everything in
 * its own alternate screen, so that the terminal's earlier content is restored afterwards; after a switch it needs a new copy of the
 * screen.
 *
 * Works on a stream: a sequence that is cut off at the end of a chunk waits for the next one.
 */
const ESC = 0x1b;
const BEL = 0x07;

/** Queries are short. A longer string (an image, a clipboard's content) is passed on as it arrives. */
const LONGEST_QUESTION = 4096;

export class ViewerFilter {
  #held: Buffer = Buffer.alloc(0);
  /** Inside a long string that is passed on, or a query's string that is dropped, up to its terminator. */
  #inside: "pass" | "drop" | undefined;

  /** The bytes to pass on, and whether the program has switched screens. */
  push(chunk: Uint8Array): { bytes: Uint8Array; switched: boolean } {
    let switched = false;
    const bytes = this.#held.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    const passed: Buffer[] = [];
    let at = 0;
    while (at < bytes.length) {
      if (this.#inside) {
        const end = terminator(bytes, at);
        const stop = end < 0 ? keepLoneEscape(bytes) : end;
        if (this.#inside === "pass") passed.push(bytes.subarray(at, stop));
        at = stop;
        if (end < 0) break;
        this.#inside = undefined;
        continue;
      }
      const start = bytes.indexOf(ESC, at);
      if (start < 0) {
        passed.push(bytes.subarray(at));
        return { bytes: join(passed), switched };
      }
      passed.push(bytes.subarray(at, start));
      const sequence = measure(bytes, start);
      if (sequence.kind === "unfinished") {
        at = start;
        if (bytes.length - start <= LONGEST_QUESTION) break;
        this.#inside = isQuestionStart(bytes.subarray(start)) ? "drop" : "pass";
        continue;
      }
      const text = bytes.subarray(start, sequence.end);
      if (isSwitch(text)) switched = true;
      else if (!isQuestion(text)) passed.push(text);
      at = sequence.end;
    }
    this.#held = Buffer.from(bytes.subarray(at));
    return { bytes: join(passed), switched };
  }
}

function join(parts: Buffer[]): Uint8Array {
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

/** A string ends with `BEL` or `ESC \`; its last byte may be an ESC whose backslash comes with the next chunk. */
function keepLoneEscape(bytes: Buffer): number {
  return bytes.at(-1) === ESC ? bytes.length - 1 : bytes.length;
}

function terminator(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === BEL) return at + 1;
    if (bytes[at] === ESC && at + 1 < bytes.length) return bytes[at + 1] === 0x5c ? at + 2 : at;
  }
  return -1;
}

function measure(bytes: Buffer, start: number): { kind: "whole"; end: number } | { kind: "unfinished" } {
  const second = bytes[start + 1];
  if (second === undefined) return { kind: "unfinished" };
  if (second === 0x5b) return measureControl(bytes, start + 2);
  const isString = second === 0x5d || second === 0x50 || second === 0x5e || second === 0x5f || second === 0x58;
  if (!isString) return { kind: "whole", end: start + 2 };
  const end = terminator(bytes, start + 2);
  return end < 0 ? { kind: "unfinished" } : { kind: "whole", end };
}

function measureControl(bytes: Buffer, from: number): { kind: "whole"; end: number } | { kind: "unfinished" } {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x40 && byte <= 0x7e) return { kind: "whole", end: at + 1 };
    // Not a control sequence after all, and therefore not a query.
    if (byte < 0x20 || byte > 0x3f) return { kind: "whole", end: at };
  }
  return { kind: "unfinished" };
}

const QUESTION = new RegExp(
  [
    "^\\x1bZ$", // DECID
    "^\\x1b\\[[?>=]?[\\d;]*c$", // device attributes
    "^\\x1b\\[\\??[\\d;]*n$", // status and cursor position
    "^\\x1b\\[\\??[\\d;]*\\$p$", // modes
    "^\\x1b\\[\\?u$", // kitty keyboard flags
    "^\\x1b\\[>\\d*q$", // version
    "^\\x1b\\[\\?\\d+;[14].*S$", // graphics attributes
    "^\\x1b\\[(?:11|13|14|15|16|18|19|20|21)(?:;\\d+)?t$", // window reports
    "^\\x1b\\[[\\d;]*x$", // terminal parameters
    "^\\x1b\\](?:4;\\d+|1\\d|5;\\d+);\\?", // colours
    "^\\x1b\\]52;[^;]*;\\?", // clipboard
    "^\\x1bP[+$]q", // capabilities and settings
  ].join("|"),
);

function isQuestion(sequence: Buffer): boolean {
  return QUESTION.test(sequence.toString("latin1"));
}

const SWITCH = /^\[\?(?:\d+;)*(?:47|1047|1049)(?:;\d+)*[hl]$/;

/** Every sequence begins with ESC. */
function isSwitch(sequence: Buffer): boolean {
  return SWITCH.test(sequence.toString("latin1", 1));
}

function isQuestionStart(sequence: Buffer): boolean {
  return QUESTION.test(sequence.toString("latin1", 0, 64));
}
