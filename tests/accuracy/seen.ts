/**
 * The screen of a run, rendered from its recording in a separate terminal, without Holdfast's screen or status code. Each picture has the time at
 * which its bytes appeared in the file.
 */
import { closeSync, fstatSync, globSync, openSync, readSync } from "node:fs";
import path from "node:path";
import xterm from "@xterm/headless";

const EVERY_MS = 20;
/** Some minutes of a screen that changes ten times a second. */
const MOST_PICTURES = 4000;

export interface Picture {
  at: number;
  lines: string[];
  title: string;
}

export class Seen implements Disposable {
  readonly #directory: string;
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  readonly #timer: NodeJS.Timeout;
  readonly pictures: Picture[] = [];
  readonly #offsets = new Map<string, number>();
  #title = "";

  /** `directory` is the run's directory. */
  constructor(directory: string, size: { columns: number; rows: number }) {
    this.#directory = directory;
    this.#terminal = new xterm.Terminal({ cols: size.columns, rows: size.rows, scrollback: 0, allowProposedApi: true, logLevel: "off" });
    this.#terminal.onTitleChange((title) => {
      this.#title = title;
    });
    this.#timer = setInterval(() => this.#read(), EVERY_MS);
  }

  resize(size: { columns: number; rows: number }): void {
    this.#terminal.resize(size.columns, size.rows);
  }

  get last(): Picture {
    return this.pictures.at(-1) ?? { at: 0, lines: [], title: "" };
  }

  /** The first time at or after `from` when the screen matched; undefined if it has not yet. */
  first(is: (picture: Picture) => boolean, from: number): number | undefined {
    const begins = Math.max(
      0,
      this.pictures.findLastIndex(({ at }) => at <= from),
    );
    const found = this.pictures.slice(begins).find(is);
    return found && Math.max(found.at, from);
  }

  /** Since when the screen has matched without a break; undefined if it does not match now. */
  since(is: (picture: Picture) => boolean): number | undefined {
    const not = this.pictures.findLastIndex((picture) => !is(picture));
    return this.pictures[not + 1]?.at;
  }

  #read(): void {
    const at = Date.now();
    let grew = false;
    for (const file of globSync("output.*", { cwd: this.#directory }).sort())
      grew = this.#readFile(path.join(this.#directory, file)) || grew;
    if (!grew) return;
    const { active } = this.#terminal.buffer;
    const lines = Array.from({ length: this.#terminal.rows }, (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? "");
    if (lines.join("\n") === this.last.lines.join("\n") && this.#title === this.last.title) return;
    this.pictures.push({ at, lines, title: this.#title });
    if (this.pictures.length > MOST_PICTURES) this.pictures.shift();
  }

  #readFile(file: string): boolean {
    const offset = this.#offsets.get(file) ?? 0;
    const handle = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(fstatSync(handle).size - offset);
      if (bytes.length <= 0) return false;
      readSync(handle, bytes, 0, bytes.length, offset);
      this.#offsets.set(file, offset + bytes.length);
      // Makes xterm parse at once: it does not defer the first write after input.
      this.#terminal.input("", true);
      this.#terminal.write(bytes);
      return true;
    } finally {
      closeSync(handle);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#terminal.dispose();
  }
}
