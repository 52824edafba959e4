/** Checks that JSON is cheap to parse: a few bytes per level or value become a hundred in memory. */

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

export interface JsonLimits {
  deepest: number;
  most: number;
}

/** Scans only the bytes; invalid JSON is left to the parser. */
export function exceeds(bytes: Uint8Array, { deepest, most }: JsonLimits): "depth" | "values" | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (OPENING.has(byte)) {
      if (++depth > deepest) return "depth";
      values++;
    } else if (CLOSING.has(byte)) depth--;
    else if (byte === COMMA || byte === COLON) values++;
    if (values > most) return "values";
  }
  return undefined;
}

/** Position of the closing quote of the string that begins at `start`; the end of the data if there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = bytes.indexOf(QUOTE, from);
    if (quote < 0) return bytes.length;
    let slashes = 0;
    while (bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote;
    from = quote + 1;
  }
}
