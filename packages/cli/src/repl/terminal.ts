/**
 * The terminal of whoever talks, for as long as they do: keys as they are pressed, pastes marked as such. Left as it was found whatever ends the
 * conversation: a key, a signal, an error, a suspension.
 */
import { emitKeypressEvents } from "node:readline";
import type { Key } from "./editor/editor.ts";
import type { Output } from "./foot.ts";

const ENTER = "\x1b[?2004h";
const LEAVE = "\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?2026l";

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** A signal to oneself arrives within this. */
const STOPPED_MS = 50;

/** After a lone Escape: a sequence that a slow line cut in two is longer on its way than a person waits for Escape to do something. */
const ESCAPE_MS = 100;

export interface TerminalOwner {
  onKey(text: string | undefined, key: Key): void;
  /** Its size has changed, or what it shows is gone. */
  onResize(): void;
  onSignal(signal: NodeJS.Signals): void;
  /** Something of this process wants to be said on standard error, which would be written across the rows that are drawn. */
  onStray(text: string): void;
}

/** Standard input and output; in a test what stands for them. */
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

  /** Not while the terminal is behind with what it was given, or is not ours. */
  get ready(): boolean {
    return this.#entered && !this.#output.writableNeedDrain;
  }

  write(text: string): void {
    this.#output.write(text);
  }

  /** As Ctrl+Z does: the terminal is given back until somebody continues us. */
  suspend(): void {
    this.#leave();
    process.kill(process.pid, "SIGTSTP");
    // Without a shell that could continue us, the kernel does not stop us.
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
