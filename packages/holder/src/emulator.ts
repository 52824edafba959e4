/**
 * The screen as a terminal emulator sees it, which a new viewer gets first. It gets bytes after they are on disk; if it cannot keep up with
 * a flood, they are read back from the recording at its own pace, so that neither memory nor the recording suffers.
 */
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Screen } from "@holdfast/contract/terminal/holder";
import { SEGMENT_BYTES, segmentName, segmentNames } from "@holdfast/platform/segments";
import { SerializeAddon } from "@xterm/addon-serialize";
import xterm from "@xterm/headless";

const SCROLLBACK = 1000;
const CHUNK = 64 * 1024;
const UNRECORDED = 1 << 20;

/** Pause between two chunks of a backlog: in a flood the recording comes first, and this process does one thing at a time. */
const PACE_MS = 25;

/** Attempts to read a backlog, in case files or memory are short, before it is skipped. */
const TRIES = 5;
const AGAIN_MS = 200;

/** The serializer's separator between the normal and the alternate buffer. */
const ALTERNATE = "\x1b[?1049h";

export class Emulator {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  readonly #serializer = new SerializeAddon();
  readonly #directory: string;
  /** Bytes of the recording that the emulator has received. */
  #given = 0;
  #recorded = 0;
  /** Output for the emulator that is not in the recording, with its position in it. */
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
    // The holder is the terminal: it alone answers the program's queries (cursor position, device attributes).
    this.#terminal.onData((data) => options.onReply(data));
  }

  /** The first `recorded` bytes are on disk; the rest could not be written, and cannot be read back from a file. */
  output(bytes: Uint8Array, recorded: number): void {
    const behind = this.#given < this.#recorded || this.#unrecorded.length > 0 || this.#busy || this.#pace !== undefined;
    this.#recorded += recorded;
    if (!behind) this.#give(bytes, recorded);
    if (!behind || recorded === bytes.length) return;
    this.#unrecorded.push({ offset: this.#recorded, bytes: bytes.slice(recorded) });
    // As much as a screen can need. A query in it (such as the cursor position) must be answered.
    while (this.#unrecorded.reduce((sum, part) => sum + part.bytes.length, 0) > UNRECORDED) this.#unrecorded.shift();
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** Waits at most `patienceMs` until everything recorded is on the screen; false if it is not, because a flood continues. */
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

  /** The number of callers that wait for the screen. */
  get waiting(): number {
    return this.#caughtUp.size;
  }

  /** Redraws the current screen on an empty terminal: only the visible one of the two buffers. */
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
      // A screen with a gap is better than one that stands still for the rest of the run.
      this.#failures = 0;
      this.#give(new Uint8Array(), until - this.#given);
    }
  }

  #failures = 0;

  /** Undefined if it cannot be read: the directory was deleted, or no file can be opened. */
  #tryToReadBack(until: number): Uint8Array | undefined {
    try {
      const bytes = this.#readBack(until);
      return bytes.length > 0 ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** At its limit the recording loses its oldest output, even if the emulator has not seen it; the emulator continues with the rest. */
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
      // Nothing can be read back from a missing directory either.
      return [];
    }
  }

  /** All segments have the same size, so an offset determines its file. */
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
