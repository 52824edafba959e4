/**
 * Reads SQLite's write-ahead log without SQLite, which uses the log up to the first frame with a wrong checksum and silently ignores the rest. A
 * killed writer leaves at most one unfinished transaction, without its last frame or with half of it. Commits after a bad frame were complete once
 * and are lost.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";
import { counted } from "@holdfast/platform";

const HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC = 0x377f0682;

/** Describes damage of the log. Returns undefined if it is complete, missing, or ends as a killed writer leaves it. */
export function walDamage(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    return damageIn(file);
  } finally {
    closeSync(file);
  }
}

function damageIn(file: number): string | undefined {
  const { size } = fstatSync(file);
  if (size <= HEADER) return undefined;
  const header = read(file, 0, HEADER);
  const magic = header.readUInt32BE(0);
  const pageSize = header.readUInt32BE(8);
  const sum = new Checksum((magic & 1) === 1);
  sum.add(header.subarray(0, 24));
  const isHeader = (magic & ~1) === MAGIC && pageSize >= 512 && sum.equals(header, 24);
  if (!isHeader) return "the header of its write-ahead log is damaged";

  const frame = FRAME_HEADER + pageSize;
  const salt = header.subarray(16, 24);
  // When overwriting older frames, a writer killed between a frame's header and its page leaves a frame of full length.
  const begunAgain = header.readUInt32BE(12) > 0;
  let broken = false;
  let lost = 0;
  for (let at = HEADER; at + frame <= size; at += frame) {
    const bytes = read(file, at, broken ? FRAME_HEADER : frame);
    const ours = bytes.subarray(8, 16).equals(salt);
    if (!broken && ours) {
      sum.add(bytes.subarray(0, 8));
      sum.add(bytes.subarray(FRAME_HEADER));
    }
    const isBad: boolean = broken || !ours || !sum.equals(bytes, 16);
    const isCommit = bytes.readUInt32BE(4) > 0;
    if (isBad && ours && isCommit && (broken || !begunAgain)) lost++;
    broken = isBad;
  }
  return lost === 0 ? undefined : `its write-ahead log is damaged: ${counted(lost, "transaction")} cannot be read`;
}

function read(file: number, at: number, length: number): Buffer {
  // Aligned, so that it can be read as words.
  const buffer = Buffer.from(new ArrayBuffer(length));
  readSync(file, buffer, 0, length, at);
  return buffer;
}

/** Running sums over 32-bit words, as SQLite's `walChecksumBytes` makes them. */
class Checksum {
  readonly #swap: boolean;
  #a = 0;
  #b = 0;

  constructor(bigEndian: boolean) {
    this.#swap = bigEndian === (endianness() === "LE");
  }

  add(bytes: Buffer): void {
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    let a = this.#a;
    let b = this.#b;
    for (let i = 0; i < words.length; i += 2) {
      a = (a + this.#word(words[i] ?? 0) + b) | 0;
      b = (b + this.#word(words[i + 1] ?? 0) + a) | 0;
    }
    this.#a = a;
    this.#b = b;
  }

  /** The sums are stored big-endian, regardless of the words' order. */
  equals(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#a && bytes.readInt32BE(at + 4) === this.#b;
  }

  #word(word: number): number {
    if (!this.#swap) return word;
    return ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
  }
}
