/**
 * The screen of a holder's viewer. A driver has the session's size, and its terminal gets the program's output directly. An observer has a
 * terminal of any size: an emulator of the session's size gets the output, and the part that fits is drawn above a line that names the driver.
 * The role may change at any time; the holder then sends the whole screen again.
 */
import type { FromHolder } from "@holdfast/contract/terminal/holder";
import type { View } from "../replay/view.ts";

/** Limits the drawing rate: a flood of output cannot be read anyway. */
const DRAW_MS = 30;
const NOTICE_MS = 6000;
const STAYS_MS = 120_000;

/** Switches off modes that a program may have switched on, and clears the screen. */
const CLEAN = "\x1b[!p\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>\x1b[r\x1b[0m\x1b[?25h\x1b[2J\x1b[H";

interface Size {
  columns: number;
  rows: number;
}

export class Shown implements Disposable {
  readonly #options: { title: string; detachKey: string; size(): Size; refresh(): void };
  #readOnly: boolean;
  #session: Size | undefined;
  #view: View | undefined;
  #people: { driver: string | null; observers: number } = { driver: null, observers: 0 };
  #notice: string | undefined;
  #stays = false;
  #drawing: NodeJS.Timeout | undefined;
  #noticed: NodeJS.Timeout | undefined;

  constructor(options: { title: string; detachKey: string; readOnly: boolean; size(): Size; refresh(): void }) {
    this.#options = options;
    this.#readOnly = options.readOnly;
  }

  get readOnly(): boolean {
    return this.#readOnly;
  }

  /** Resolves when the terminal accepts more. */
  async output(bytes: Uint8Array): Promise<void> {
    if (this.#view) {
      this.#view.write(bytes);
      this.#draw();
    } else if (!process.stdout.write(bytes)) {
      await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
    }
  }

  async hear(message: FromHolder): Promise<void> {
    if (message.t === "size") {
      this.#session = { columns: message.columns, rows: message.rows };
      this.#view?.resize(this.#session);
      // Only a holder that reports its size can be shown at another size.
      if (this.#readOnly && !this.#view) await this.#lookOn();
    } else if (message.t === "part") {
      this.#readOnly = message.readOnly;
      if (message.readOnly) await this.#lookOn();
      else this.#drive();
    } else if (message.t === "people") {
      const more = message.observers > this.#people.observers;
      this.#people = message;
      if (this.#view) this.#draw();
      else if (more) this.#say(`${message.observers} ${message.observers === 1 ? "looks" : "look"} on`);
    } else if (message.t === "notice") {
      this.#say(message.text, message.stays);
    }
  }

  resized(): void {
    this.#view?.forget();
    if (!this.#view) return;
    process.stdout.write("\x1b[2J");
    this.#draw();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#drawing);
    clearTimeout(this.#noticed);
    this.#view?.[Symbol.dispose]();
  }

  async #lookOn(): Promise<void> {
    const { View } = await import("../replay/view.ts");
    process.stdout.write(CLEAN);
    this.#view = new View(this.#session ?? this.#options.size());
    this.#draw();
  }

  #drive(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    this.#view?.[Symbol.dispose]();
    this.#view = undefined;
    process.stdout.write(CLEAN);
  }

  #draw(): void {
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      if (!this.#view) return;
      // Skip the frame if the terminal has not taken the last one, so that output does not pile up.
      if (process.stdout.writableNeedDrain) return this.#draw();
      const size = this.#options.size();
      process.stdout.write(this.#view.draw(size, bar(this.#notice ?? this.#line(size.columns), size.columns)));
    }, DRAW_MS);
  }

  #line(columns: number): string {
    const { driver } = this.#people;
    const { title, detachKey } = this.#options;
    const who = `${title} · read only · ${driver ?? "nobody"} drives`;
    const full = `${who} · ${this.#asking()} · ${detachKey} detaches`;
    return full.length + 2 <= columns ? full : `${who} · ${detachKey} detaches`;
  }

  #asking(): string {
    return `holdfast control request ${this.#options.title}`;
  }

  /** Called when an observer types. */
  refused(): void {
    if (this.#view && this.#notice === undefined)
      this.#say(`${this.#people.driver ?? "nobody"} drives; request control: ${this.#asking()}`);
  }

  /** Typing dismisses a notice: the person has read it. */
  typed(): void {
    if (this.#stays) this.#unsay();
  }

  /** Shows a notice on the last line for a few seconds, then redraws the content below it. */
  #say(text: string, stays = false): void {
    this.#stays = stays;
    clearTimeout(this.#noticed);
    this.#notice = text;
    const { columns, rows } = this.#options.size();
    if (this.#view) this.#draw();
    else process.stdout.write(`\x1b7\x1b[${rows};1H${bar(text, columns)}\x1b[0m\x1b8`);
    this.#noticed = setTimeout(() => this.#unsay(), stays ? STAYS_MS : NOTICE_MS);
  }

  #unsay(): void {
    clearTimeout(this.#noticed);
    this.#stays = false;
    this.#notice = undefined;
    if (this.#view) this.#draw();
    else this.#options.refresh();
  }
}

function bar(text: string, columns: number): string {
  const fit = [...` ${text.replaceAll(/\p{Cc}/gu, "")} `].slice(0, columns).join("");
  return `\x1b[0;7m${fit.padEnd(columns)}\x1b[0m`;
}
