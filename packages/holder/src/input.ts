/**
 * Keys and pastes on their way to the program, in order, each in one piece. A terminal accepts a few kilobytes at a time, and then
 * nothing until the program reads; the program may itself wait for its output to be read. So nothing here blocks: bytes that are not
 * accepted wait and are offered again.
 *
 * Memory is bounded: long input waits in a file, of which one piece at a time is read. At most MOST_IN_MEMORY waits in memory, and
 * `hasRoom` reports whether there is space. A caller that writes without asking is not refused.
 */
import { closeSync, readSync, writeSync } from "node:fs";

/** Used only while input waits for a slow program. */
const RETRY_MS = 2;
const LONGEST_RETRY_MS = 50;

const PIECE = 64 * 1024;
const MOST_IN_MEMORY = 1024 * 1024;

/** A program that has read nothing for this long is reported as not reading. */
const STALL_MS = 500;
/** A slow program is not waited for longer than this. */
const PATIENCE_MS = 10_000;

/** Input on its way, of which a part may have been accepted. */
interface Piece {
  /** The bytes to offer next; empty when everything was accepted. */
  next(): Uint8Array;
  pass(taken: number): void;
  close(): void;
}

class InMemory implements Piece {
  #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): Uint8Array {
    return this.#bytes;
  }

  pass(taken: number): void {
    this.#bytes = this.#bytes.subarray(taken);
  }

  close(): void {}
}

class InFile implements Piece {
  readonly #fd: number;
  #at = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  next(): Uint8Array {
    const piece = Buffer.allocUnsafe(PIECE);
    return piece.subarray(0, readSync(this.#fd, piece, 0, PIECE, this.#at));
  }

  pass(taken: number): void {
    this.#at += taken;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

interface Waiter {
  /** Resolves once this many bytes in total were accepted. */
  until: number;
  resolve(): void;
  stall: NodeJS.Timeout;
  patience: NodeJS.Timeout;
}

export class Input {
  readonly #terminal: number;
  readonly #waiting: Piece[] = [];
  #timer: NodeJS.Timeout | undefined;
  #pause = RETRY_MS;
  #inMemory = 0;
  #asked = 0;
  #taken = 0;
  readonly #waiters = new Set<Waiter>();
  readonly #onRoom: (() => void)[] = [];

  /** The descriptor must be non-blocking. */
  constructor(terminal: number) {
    this.#terminal = terminal;
  }

  /** The number of bytes that the terminal has not accepted yet. */
  get waiting(): number {
    return this.#asked - this.#taken;
  }

  get hasRoom(): boolean {
    return this.#inMemory < MOST_IN_MEMORY;
  }

  /** Calls back once, when there is space again. */
  onRoom(callback: () => void): void {
    this.#onRoom.push(callback);
  }

  write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#inMemory += bytes.length;
    this.#queue(new InMemory(bytes), bytes.length);
  }

  /** Closes the descriptor when everything was accepted. */
  writeFile(fd: number, size: number): void {
    this.#queue(new InFile(fd), size);
  }

  /** Resolves to the number of bytes written so far that were not accepted: 0, unless the program does not read. */
  settle(): Promise<number> {
    const until = this.#asked;
    if (this.#taken >= until) return Promise.resolve(0);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        until,
        resolve: () => {
          clearTimeout(waiter.stall);
          clearTimeout(waiter.patience);
          this.#waiters.delete(waiter);
          resolve(Math.max(0, until - this.#taken));
        },
        stall: setTimeout(() => waiter.resolve(), STALL_MS),
        patience: setTimeout(() => waiter.resolve(), PATIENCE_MS),
      };
      this.#waiters.add(waiter);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#forget();
    for (const waiter of this.#waiters) waiter.resolve();
  }

  #queue(piece: Piece, size: number): void {
    this.#asked += size;
    this.#waiting.push(piece);
    if (!this.#timer) this.#offer();
  }

  #offer(): void {
    this.#timer = undefined;
    const before = this.#taken;
    let isFull = false;
    for (let [first] = this.#waiting; first && !isFull; [first] = this.#waiting) {
      const bytes = first.next();
      const taken = this.#take(bytes);
      // The program has ended, and all waiting input was dropped.
      if (this.#waiting[0] !== first) break;
      first.pass(taken);
      if (first instanceof InMemory) this.#inMemory -= taken;
      isFull = taken < bytes.length;
      if (!isFull && first.next().length === 0) this.#waiting.shift()?.close();
    }
    if (this.#taken > before) this.#tellProgress();
    this.#pause = this.#taken > before || !isFull ? RETRY_MS : Math.min(this.#pause * 2, LONGEST_RETRY_MS);
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#offer(), this.#pause);
  }

  /** The number of bytes that the terminal accepted. */
  #take(bytes: Uint8Array): number {
    let taken = 0;
    try {
      while (taken < bytes.length) taken += writeSync(this.#terminal, bytes, taken, bytes.length - taken);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The program has ended: nobody will read this.
      if (code === "EIO" || code === "EBADF") this.#forget();
      else if (code !== "EAGAIN") throw error;
    }
    this.#taken += taken;
    return taken;
  }

  #forget(): void {
    for (const piece of this.#waiting.splice(0)) piece.close();
    this.#inMemory = 0;
    this.#tellRoom();
  }

  #tellProgress(): void {
    for (const waiter of this.#waiters) {
      if (this.#taken >= waiter.until) waiter.resolve();
      else waiter.stall.refresh();
    }
    if (this.hasRoom) this.#tellRoom();
  }

  #tellRoom(): void {
    for (const callback of this.#onRoom.splice(0)) callback();
  }
}
