const BRACKETED_PASTE = "?2004";
const ALTERNATE_SCREEN = "?1049";

/** All output of the demo agent. The status line at the bottom is redrawn in place; on a pipe there is none. */
export class Screen {
  readonly #out = process.stdout;
  #status = "";
  #draft = "";
  #alternate = false;
  #reportsSize = false;

  open(): void {
    // The reader is gone. Node ignores SIGPIPE, so exit with the code that SIGPIPE would give.
    this.#out.on("error", () => process.exit(141));
    if (this.#out.isTTY) this.#out.write(`\x1b[${BRACKETED_PASTE}h`);
  }

  close(): void {
    if (!this.#out.isTTY) return;
    this.clearStatus();
    if (this.#alternate) this.leaveAlternate();
    this.#out.write(`\x1b[${BRACKETED_PASTE}l`);
  }

  print(line: string): void {
    const status = this.#status;
    this.clearStatus();
    this.#out.write(`${line}\n`);
    if (status !== "") this.status(status);
  }

  status(text: string): void {
    if (!this.#out.isTTY) return;
    this.#status = text;
    const room = Math.max(2, this.width - text.length - 5);
    const draft = this.#draft.length > room ? `…${this.#draft.slice(1 - room)}` : this.#draft;
    this.#out.write(`\r\x1b[K${text}${draft === "" ? "" : ` > ${draft}`}`);
  }

  /** Text typed during a turn, shown after the status. */
  draft(text: string): void {
    if (text === this.#draft) return;
    this.#draft = text;
    if (this.#status !== "") this.status(this.#status);
  }

  clearStatus(): void {
    if (this.#status !== "") this.#out.write("\r\x1b[K");
    this.#status = "";
  }

  /** Leaves the status as a line of its own. */
  keepStatus(): void {
    if (this.#status !== "") this.#out.write("\n");
    this.#status = "";
  }

  async flood(count: number, signal: AbortSignal): Promise<void> {
    const perWrite = 1000;
    for (let first = 1; first <= count && !signal.aborted; first += perWrite) {
      const lines = Array.from({ length: Math.min(perWrite, count - first + 1) }, (_, index) => `line ${first + index}\n`);
      await new Promise<void>((resolve) => this.#out.write(lines.join(""), () => resolve()));
    }
  }

  title(text: string): void {
    if (this.#out.isTTY) this.#out.write(`\x1b]2;${text}\x07`);
  }

  enterAlternate(): void {
    this.#alternate = true;
    this.#out.write(`\x1b[${ALTERNATE_SCREEN}h\x1b[2J\x1b[H`);
  }

  leaveAlternate(): void {
    this.#alternate = false;
    this.#out.write(`\x1b[${ALTERNATE_SCREEN}l`);
  }

  get width(): number {
    return this.#out.columns ?? 80;
  }

  /** Prints columns×rows, now and whenever they change. */
  reportSize(): void {
    this.print(this.#out.isTTY ? `${this.#out.columns}×${this.#out.rows}` : "no terminal");
    if (this.#reportsSize) return;
    this.#reportsSize = true;
    this.#out.on("resize", () => this.reportSize());
  }
}
