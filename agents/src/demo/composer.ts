import { type Key, KeyReader } from "./keys.ts";
import type { Screen } from "./screen.ts";

// A terminal sends an escape sequence in one piece; what follows an Esc later than this was typed.
const ESCAPE_MS = 30;

/**
 * Reads what the user types. On a terminal a small line editor, on a pipe line by line. What is typed during a turn waits for its
 * end; Esc and Ctrl+C reach the turn at once.
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
      this.#screen.status(`> ${oneLine(text)}`);
      this.#screen.keepStatus();
    }
    return text;
  }

  get hasNext(): boolean {
    return this.#submitted.length > 0;
  }

  /** Runs the work with a signal that Esc or Ctrl+C aborts. */
  async interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#interrupt = () => controller.abort();
    try {
      return await work(controller.signal);
    } finally {
      this.#interrupt = undefined;
    }
  }

  /** y or n; the end of the input and Esc mean n. */
  async confirm(question: string): Promise<boolean> {
    this.#screen.print(question);
    if (!this.#in.isTTY) return (await this.next())?.startsWith("y") ?? false;
    if (this.#ended) return false;
    const answer = new Promise<string>((resolve) => {
      this.#answer = resolve;
    });
    try {
      return (await answer) === "y";
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
    if (key.type === "escape" || key.type === "cancel") answer("n");
    const choice = key.type === "text" && /[yn]/i.exec(key.text);
    if (choice) answer(choice[0].toLowerCase());
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
  }

  #submit(text: string): void {
    if (text.trim() === "") return;
    this.#submitted.push(text.trim());
    this.#wake?.();
  }

  #end(): void {
    if (!this.#in.isTTY) this.#submit(this.#take());
    this.#ended = true;
    this.#answer?.("n");
    this.#wake?.();
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  // Only the end of a long text, so that the line never wraps and can be redrawn in place.
  #draw(): void {
    const room = this.#screen.width - 4;
    const text = oneLine(this.#text);
    this.#screen.status(`> ${text.length > room ? `…${text.slice(1 - room)}` : text}`);
  }
}

function edited(text: string, key: Key): string {
  if (key.type === "text" || key.type === "paste") return text + key.text;
  if (key.type === "backspace") return [...text].slice(0, -1).join("");
  return key.type === "clear" ? "" : text;
}

const oneLine = (text: string): string => text.replaceAll("\n", " ⏎ ");
