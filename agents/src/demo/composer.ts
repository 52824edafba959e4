import { type Key, KeyReader } from "./keys.ts";
import type { Screen } from "./screen.ts";

// A terminal sends an escape sequence at once. Later bytes after an Esc are separate keys.
const ESCAPE_MS = 30;

type Choice = { keys: string; enter: string; otherwise: string; signal?: AbortSignal };

/**
 * Reads the user's input: a small line editor on a terminal, line by line on a pipe. Input during a turn waits for its end; Esc and Ctrl+C reach the
 * turn at once.
 */
export class Composer {
  readonly #in = process.stdin;
  readonly #screen: Screen;
  readonly #keys = new KeyReader();
  #flush: NodeJS.Timeout | undefined;
  #text = "";
  #submitted: string[] = [];
  #ended = false;
  #leaving = false;
  #wake: (() => void) | undefined;
  #interrupt: (() => void) | undefined;
  #answer: ((key: string) => void) | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  open(): void {
    if (this.#in.isTTY) this.#in.setRawMode(true);
    this.#in.setEncoding("utf8");
    this.#in.on("data", (chunk: string) => (this.#in.isTTY ? this.#readKeys(chunk) : this.#readLines(chunk)));
    this.#in.on("end", () => this.#end());
    this.#in.on("error", () => this.#end());
  }

  close(): void {
    if (this.#in.isTTY) this.#in.setRawMode(false);
  }

  /** The next prompt or command; undefined when the user leaves. */
  async next(): Promise<string | undefined> {
    while (this.#submitted.length === 0 && !this.#ended) {
      this.#draw();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
    const text = this.#submitted.shift();
    if (text !== undefined) {
      this.#screen.draft("");
      this.#screen.status(`> ${oneLine(text)}`);
      this.#screen.keepStatus();
      this.#screen.draft(this.#shown());
    }
    return text;
  }

  get hasNext(): boolean {
    return this.#submitted.length > 0;
  }

  /** Runs work with a signal that Esc or Ctrl+C aborts. */
  async interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#interrupt = () => controller.abort();
    try {
      return await work(controller.signal);
    } finally {
      this.#interrupt = undefined;
    }
  }

  /** True for y and, as in real agents, Enter; false for n, Esc, the end of the input and the signal. */
  async confirm(question: string, signal?: AbortSignal): Promise<boolean> {
    this.#screen.print(question);
    if (!this.#in.isTTY) return (await this.next())?.startsWith("y") ?? false;
    return (await this.#oneOf({ keys: "yn", enter: "y", otherwise: "n", ...(signal ? { signal } : {}) })) === "y";
  }

  /** Chooses an option by number; Enter takes the first, Esc the last. */
  async choose(question: string, choices: readonly string[], signal?: AbortSignal): Promise<string> {
    this.#screen.print(question);
    for (const [i, choice] of choices.entries()) this.#screen.print(`${i + 1}. ${choice}`);
    this.#screen.print(`Choose 1-${choices.length}`);
    const last = String(choices.length);
    const keys = choices.map((_, i) => String(i + 1)).join("");
    const chosen = this.#in.isTTY
      ? await this.#oneOf({ keys, enter: "1", otherwise: last, ...(signal ? { signal } : {}) })
      : ((await this.next()) ?? last);
    return choices[Number(chosen) - 1] ?? choices.at(-1) ?? "";
  }

  async #oneOf({ keys, enter, otherwise, signal }: Choice): Promise<string> {
    if (this.#ended || signal?.aborted) return otherwise;
    const answer = new Promise<string>((resolve) => {
      this.#answer = (key) => {
        if (key === "enter") resolve(enter);
        else if (key === "escape") resolve(otherwise);
        else if (keys.includes(key)) resolve(key);
      };
      signal?.addEventListener("abort", () => resolve(otherwise));
    });
    try {
      return await answer;
    } finally {
      this.#answer = undefined;
    }
  }

  cancel(): void {
    this.#press({ type: "cancel" });
  }

  #readLines(chunk: string): void {
    const lines = (this.#text + chunk).split("\n");
    this.#text = lines.pop() ?? "";
    for (const line of lines) this.#submit(line);
  }

  #readKeys(chunk: string): void {
    clearTimeout(this.#flush);
    for (const key of this.#keys.read(chunk)) this.#press(key);
    this.#flush = setTimeout(() => {
      for (const key of this.#keys.flush()) this.#press(key);
    }, ESCAPE_MS);
  }

  #press(key: Key): void {
    const stops = key.type === "escape" || key.type === "cancel";
    if (this.#answer) this.#pressAnswer(key, this.#answer);
    else if (stops && this.#interrupt) this.#interrupt();
    else if (key.type === "cancel") this.#cancelIdle();
    else this.#edit(key);
  }

  #pressAnswer(key: Key, answer: (key: string) => void): void {
    if (key.type === "escape" || key.type === "cancel") answer("escape");
    else if (key.type === "enter") answer("enter");
    else if (key.type === "text") for (const letter of key.text.toLowerCase()) answer(letter);
  }

  #cancelIdle(): void {
    if (this.#leaving) {
      this.#end();
      return;
    }
    this.#leaving = true;
    this.#text = "";
    this.#screen.print("Press Ctrl+C again to exit");
    if (this.#wake) this.#draw();
  }

  #edit(key: Key): void {
    this.#leaving = false;
    if (key.type === "enter") this.#submit(this.#take());
    else if (key.type === "end" && this.#text === "" && !this.#interrupt) this.#end();
    else this.#text = edited(this.#text, key);
    if (this.#wake) this.#draw();
    else this.#screen.draft(this.#shown());
  }

  #submit(text: string): void {
    if (text.trim() === "") return;
    this.#submitted.push(text.trim());
    this.#wake?.();
  }

  #end(): void {
    if (!this.#in.isTTY) this.#submit(this.#take());
    this.#ended = true;
    this.#answer?.("escape");
    this.#wake?.();
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  #draw(): void {
    this.#screen.draft("");
    this.#screen.status(`> ${this.#shown()}`);
  }

  // Only the end of a long text, so that the line never wraps and can be redrawn in place.
  #shown(): string {
    const room = this.#screen.width - 4;
    const text = oneLine(this.#text);
    return text.length > room ? `…${text.slice(1 - room)}` : text;
  }
}

function edited(text: string, key: Key): string {
  if (key.type === "text" || key.type === "paste") return text + key.text;
  if (key.type === "backspace") return [...text].slice(0, -1).join("");
  return key.type === "clear" ? "" : text;
}

const oneLine = (text: string): string => text.replaceAll("\n", " ⏎ ");
