/** Frames on a holder's socket; see holder.ts. */
export const MESSAGE = 0;
export const BYTES = 1;

const HEAD = 5;

/** Far above the longest prompt (16 million characters) or screen. A longer frame is a defect or does not come from Holdfast. */
const LONGEST = 64 * 1024 * 1024;

/** Limit for keys and for messages about a terminal; longer input is sent in several frames. */
export const LONGEST_TYPED = 4 * 1024 * 1024;

export interface Frame {
  type: number;
  payload: Uint8Array;
}

export function encodeFrame(type: number, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(5 + payload.length);
  frame[0] = type;
  new DataView(frame.buffer).setUint32(1, payload.length);
  frame.set(payload, 5);
  return frame;
}

export function encodeMessage(message: unknown): Uint8Array {
  return encodeFrame(MESSAGE, new TextEncoder().encode(JSON.stringify(message)));
}

/**
 * Collects chunks and returns each complete frame once, in order. Each byte is copied about once, however small the chunks are. Memory grows with
 * received bytes, not with the announced length.
 */
export class FrameReader {
  readonly #longest: number;
  readonly #head = new Uint8Array(HEAD);
  #headSize = 0;
  #payload = new Uint8Array();
  #filled = 0;

  constructor(longest = LONGEST) {
    this.#longest = longest;
  }

  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let rest = chunk;
    for (;;) {
      rest = this.#readHead(rest);
      if (this.#headSize < HEAD) return frames;
      const length = this.#length();
      // A frame that is complete within its chunk is not copied.
      if (this.#filled === 0 && rest.length >= length) {
        frames.push(this.#frame(rest.subarray(0, length)));
        rest = rest.subarray(length);
        continue;
      }
      const part = rest.subarray(0, length - this.#filled);
      this.#append(part, length);
      rest = rest.subarray(part.length);
      if (this.#filled < length) return frames;
      frames.push(this.#frame(this.#payload));
    }
  }

  #readHead(chunk: Uint8Array): Uint8Array {
    const part = chunk.subarray(0, HEAD - this.#headSize);
    this.#head.set(part, this.#headSize);
    this.#headSize += part.length;
    return chunk.subarray(part.length);
  }

  #length(): number {
    const length = new DataView(this.#head.buffer).getUint32(1);
    if (length > this.#longest) throw new Error(`a frame of ${length} bytes`);
    return length;
  }

  #append(part: Uint8Array, length: number): void {
    const needed = this.#filled + part.length;
    if (needed > this.#payload.length) {
      const larger = new Uint8Array(Math.min(length, Math.max(needed, 2 * this.#payload.length)));
      larger.set(this.#payload.subarray(0, this.#filled));
      this.#payload = larger;
    }
    this.#payload.set(part, this.#filled);
    this.#filled = needed;
  }

  #frame(payload: Uint8Array): Frame {
    this.#headSize = 0;
    this.#filled = 0;
    this.#payload = new Uint8Array();
    return { type: this.#head[0] ?? 0, payload };
  }
}

export function decodeMessage(payload: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(payload));
}
