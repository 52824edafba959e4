/** The frames of the holder's socket; see holder.ts. */
export const MESSAGE = 0;
export const BYTES = 1;

/** Far above a 1 MB paste in base64; a longer frame is a defect or not one of ours. */
const LONGEST = 64 * 1024 * 1024;

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

/** Collects chunks and gives each whole frame once, in order. */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #size = 0;

  push(chunk: Uint8Array): { type: number; payload: Uint8Array }[] {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    const frames: { type: number; payload: Uint8Array }[] = [];
    for (;;) {
      if (this.#size < 5) return frames;
      const head = this.#joined();
      const length = new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(1);
      if (length > LONGEST) throw new Error(`a frame of ${length} bytes`);
      if (head.length < 5 + length) return frames;
      frames.push({ type: head[0] ?? 0, payload: head.subarray(5, 5 + length) });
      this.#parts = [head.subarray(5 + length)];
      this.#size = head.length - 5 - length;
    }
  }

  #joined(): Uint8Array {
    const [only] = this.#parts;
    if (this.#parts.length === 1 && only) return only;
    const all = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    this.#parts = [all];
    return all;
  }
}

export function decodeMessage(payload: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(payload));
}
