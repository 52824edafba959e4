/**
 * The terminal of a conversation: raw keys, and marked pastes. Restored however the conversation ends: by a key, a signal, an error or a
 * suspension.
 */
import { emitKeypressEvents } from "node:readline";
import type { Key } from "./editor/editor.ts";
import type { Output } from "./foot.ts";

const ENTER = "\x1b[?2004h";
const LEAVE = "\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?2026l";

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** A signal to this process arrives within this time. */
const STOPPED_MS = 50;

/** Wait after a lone Escape: longer than a slow line delays the rest of a sequence, shorter than a person notices. */
const ESCAPE_MS = 100;

export interface TerminalOwner {
  onKey(text: string | undefined, key: Key): void;
  /** The size changed, or the screen's content is gone. */
  onResize(): void;
  onSignal(signal: NodeJS.Signals): void;
  /** Output on standard error, which would overwrite the drawn rows. */
  onStray(text: string): void;
}

/** Standard input and output; replaced in tests. */
export interface Streams {
  input: NodeJS.ReadableStream & { setRawMode(raw: boolean): unknown };
  output: NodeJS.WritableStream & { columns?: number; rows?: number; isTTY?: boolean; writableNeedDrain?: boolean };
}

export class TalkTerminal implements Output, Disposable {
  readonly #owner: TerminalOwner;
  readonly #input: Streams["input"];
  readonly #output: Streams["output"];
  readonly #stderrWrite = process.stderr.write;
  #entered = false;
  #disposed = false;

  constructor(owner: TerminalOwner, { input, output }: Streams) {
    this.#owner = owner;
    this.#input = input;
    this.#output = output;
    emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Parameters<typeof emitKeypressEvents>[1]);
    input.on("keypress", this.#onKey);
    output.on("resize", this.#onResize);
    process.on("exit", this.#leave);
    process.on("SIGCONT", this.#onContinue);
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    this.#enter();
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  get rows(): number {
    return this.#output.rows || 24;
  }

  /** False while the terminal lags or is suspended. */
  get ready(): boolean {
    return this.#entered && !this.#output.writableNeedDrain;
  }

  write(text: string): void {
    this.#output.write(text);
  }

  /** Suspends like Ctrl+Z: the terminal is released until the process continues. */
  suspend(): void {
    this.#leave();
    process.kill(process.pid, "SIGTSTP");
    // Without a shell that could continue the process, the kernel does not stop it.
    setTimeout(() => this.#entered || this.#disposed || this.#onContinue(), STOPPED_MS).unref();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#leave();
    this.#input.off("keypress", this.#onKey).pause();
    this.#output.off("resize", this.#onResize);
    process.off("exit", this.#leave);
    process.off("SIGCONT", this.#onContinue);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  readonly #onKey = (text: string | undefined, key: Key) => this.#owner.onKey(text, key);
  readonly #onResize = () => this.#owner.onResize();
  readonly #stray = ((text: string | Uint8Array) => {
    this.#owner.onStray(typeof text === "string" ? text : Buffer.from(text).toString());
    return true;
  }) as typeof process.stderr.write;

  readonly #onSignal = (signal: NodeJS.Signals) => this.#owner.onSignal(signal);
  readonly #onContinue = () => {
    this.#entered = false;
    this.#enter();
    this.#owner.onResize();
  };

  #enter(): void {
    this.#entered = true;
    process.stderr.write = this.#stray;
    this.#input.setRawMode(true);
    this.#input.resume();
    this.#output.write(ENTER);
  }

  readonly #leave = () => {
    if (!this.#entered) return;
    this.#entered = false;
    process.stderr.write = this.#stderrWrite;
    this.#output.write(LEAVE);
    this.#input.setRawMode(false);
  };
}
