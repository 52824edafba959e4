/**
 * The screen, as an emulator sees it: what a new viewer gets first. Bytes are given to it after they are on disk; when it cannot
 * keep up with a flood, they are read back from the recording at its own pace, so that neither memory nor the recording suffers.
 */
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Screen } from "@holdfast/contract/holder";
import { SEGMENT_BYTES, segmentName, segmentNames } from "@holdfast/platform/segments";
import { SerializeAddon } from "@xterm/addon-serialize";
import xterm from "@xterm/headless";

const SCROLLBACK = 1000;
const CHUNK = 64 * 1024;
const UNRECORDED = 1 << 20;

/** Between two chunks of a backlog: in a flood the recording comes first, and this process does one thing at a time. */
const PACE_MS = 25;

/** A backlog that cannot be read is tried again so often, in case files or memory were short, and then passed over. */
const TRIES = 5;
const AGAIN_MS = 200;

/** What the serializer puts between the normal buffer and the alternate one. */
const ALTERNATE = "\x1b[?1049h";

export class Model {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  readonly #serializer = new SerializeAddon();
  readonly #directory: string;
  /** How many bytes of the recording the emulator has been given. */
  #given = 0;
  #recorded = 0;
  /** What the emulator has to be given that is not in the recording, with its place in it. */
  readonly #unrecorded: { offset: number; bytes: Uint8Array }[] = [];
  #busy = false;
  #title = "";
  #cursorVisible = true;
  readonly #caughtUp = new Set<() => void>();

  constructor(options: { directory: string; columns: number; rows: number; onReply(data: string): void }) {
    this.#directory = options.directory;
    this.#terminal = new xterm.Terminal({
      cols: options.columns,
      rows: options.rows,
      scrollback: SCROLLBACK,
      allowProposedApi: true,
      logLevel: "off",
    });
    this.#terminal.loadAddon(this.#serializer as never);
    this.#terminal.onTitleChange((title) => {
      this.#title = title;
    });
    for (const [final, visible] of [
      ["h", true],
      ["l", false],
    ] as const) {
      this.#terminal.parser.registerCsiHandler({ prefix: "?", final }, (params) => {
        if (params.includes(25)) this.#cursorVisible = visible;
        return false;
      });
    }
    // The holder is the terminal: it alone answers the program's questions (cursor position, device attributes).
    this.#terminal.onData((data) => options.onReply(data));
  }

  /** The first `recorded` of the bytes are on disk; the rest could not be written, and are in no file to be read back from. */
  output(bytes: Uint8Array, recorded: number): void {
    const behind = this.#given < this.#recorded || this.#unrecorded.length > 0 || this.#busy || this.#pace !== undefined;
    this.#recorded += recorded;
    if (!behind) this.#give(bytes, recorded);
    if (!behind || recorded === bytes.length) return;
    this.#unrecorded.push({ offset: this.#recorded, bytes: bytes.slice(recorded) });
    // As much as a screen can need; a program's question in it (where is the cursor?) must not stay without an answer.
    while (this.#unrecorded.reduce((sum, part) => sum + part.bytes.length, 0) > UNRECORDED) this.#unrecorded.shift();
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** Waits until everything recorded is on the screen, at most `patienceMs`; false when it is not: a flood goes on. */
  async settle(patienceMs: number): Promise<boolean> {
    if (!this.#busy && this.#isCurrent()) return true;
    return new Promise((resolve) => {
      const done = (isCurrent: boolean) => {
        clearTimeout(timer);
        this.#caughtUp.delete(caughtUp);
        resolve(isCurrent);
      };
      const caughtUp = () => done(true);
      const timer = setTimeout(() => done(false), patienceMs);
      this.#caughtUp.add(caughtUp);
    });
  }

  /** How many wait for the screen. */
  get waiting(): number {
    return this.#caughtUp.size;
  }

  /** Redraws what is on the screen now, on an empty terminal: of the two buffers only the one that shows. */
  serialize(): string {
    const both = this.#serializer.serialize({ scrollback: 0 });
    const alternate = both.lastIndexOf(ALTERNATE);
    return (alternate < 0 ? both : both.slice(alternate + ALTERNATE.length)) + (this.#cursorVisible ? "" : "\x1b[?25l");
  }

  screen(): Screen {
    const { active } = this.#terminal.buffer;
    const lines = Array.from(
      { length: this.#terminal.rows },
      (_, y) =>
        active
          .getLine(active.baseY + y)
          ?.translateToString(true)
          .trimEnd() ?? "",
    );
    return {
      columns: this.#terminal.cols,
      rows: this.#terminal.rows,
      cursor: { x: active.cursorX, y: active.cursorY, visible: this.#cursorVisible },
      title: this.#title,
      lines,
      ansi: this.serialize(),
      alternate: active.type === "alternate",
      bracketedPaste: this.#terminal.modes.bracketedPasteMode,
      applicationCursor: this.#terminal.modes.applicationCursorKeysMode,
    };
  }

  #give(bytes: Uint8Array, recorded: number): void {
    this.#busy = true;
    this.#given += recorded;
    this.#terminal.write(bytes, () => {
      this.#busy = false;
      if (this.#isCurrent()) for (const done of [...this.#caughtUp]) done();
      else this.#pace ??= setTimeout(() => this.#catchUp(), PACE_MS);
    });
  }

  #pace: NodeJS.Timeout | undefined;

  #isCurrent(): boolean {
    return this.#given === this.#recorded && this.#unrecorded.length === 0;
  }

  #catchUp(): void {
    this.#pace = undefined;
    this.#skipDeleted();
    const [next] = this.#unrecorded;
    if (next && next.offset <= this.#given) {
      this.#unrecorded.shift();
      this.#give(next.bytes, 0);
      return;
    }
    const until = next?.offset ?? this.#recorded;
    const bytes = this.#tryToReadBack(until);
    if (bytes) {
      this.#failures = 0;
      this.#give(bytes, bytes.length);
    } else if (++this.#failures < TRIES) {
      this.#pace = setTimeout(() => this.#catchUp(), AGAIN_MS);
    } else {
      // A screen that lacks something is better than one that stands still for the rest of the run.
      this.#failures = 0;
      this.#give(new Uint8Array(), until - this.#given);
    }
  }

  #failures = 0;

  /** Nothing when it cannot be read: the directory was taken away, or there are no files left to open. */
  #tryToReadBack(until: number): Uint8Array | undefined {
    try {
      const bytes = this.#readBack(until);
      return bytes.length > 0 ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** The oldest output goes when the recording reaches its limit, also what the emulator has not seen: it goes on with what is there. */
  #skipDeleted(): void {
    const segment = Math.floor(this.#given / SEGMENT_BYTES);
    if (existsSync(this.#path(segment))) return;
    const next = Math.min(...this.#segments().filter((number) => number > segment));
    if (Number.isFinite(next)) this.#given = next * SEGMENT_BYTES;
  }

  #segments(): number[] {
    try {
      return segmentNames(readdirSync(this.#directory)).map(({ number }) => number);
    } catch {
      // Nothing can be read back from it, either.
      return [];
    }
  }

  /** Segments are all of one size, so a place in the recording names its file. */
  #readBack(until: number): Uint8Array {
    const segment = Math.floor(this.#given / SEGMENT_BYTES);
    const path = this.#path(segment);
    const from = this.#given - segment * SEGMENT_BYTES;
    const length = Math.max(0, Math.min(CHUNK, statSync(path).size - from, until - this.#given));
    const buffer = Buffer.allocUnsafe(length);
    const file = openSync(path, "r");
    try {
      return buffer.subarray(0, readSync(file, buffer, 0, length, from));
    } finally {
      closeSync(file);
    }
  }

  #path(segment: number): string {
    return join(this.#directory, segmentName(segment));
  }
}
