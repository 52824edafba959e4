/** The demo agent's screen with the composer of Claude Code: a frame of two rules, and a line of hints below it. */
import { Screen } from "../demo/screen.ts";

const HINTS = "  ? for shortcuts";

export class ClaudeScreen extends Screen {
  #status = "";
  #rows = 0;

  override print(line: string): void {
    const status = this.#status;
    this.clearStatus();
    process.stdout.write(`${line}\n`);
    if (status !== "") this.status(status);
  }

  override status(text: string): void {
    if (!process.stdout.isTTY) return;
    this.#erase();
    this.#status = text;
    if (!text.startsWith(">")) {
      process.stdout.write(text);
      this.#rows = 1;
      return;
    }
    const rule = "─".repeat(Math.max(10, this.width - 1));
    const draft = text.slice(2);
    process.stdout.write(`${rule}\n❯ ${draft}\n${rule}\n${HINTS}\x1b[2A\r\x1b[${2 + draft.length}C`);
    this.#rows = 4;
  }

  /** Text typed during a turn is not shown. */
  override draft(): void {}

  override clearStatus(): void {
    this.#erase();
    this.#status = "";
  }

  override keepStatus(): void {
    const text = this.#status;
    this.clearStatus();
    if (text !== "") process.stdout.write(`${text}\n`);
  }

  #erase(): void {
    if (this.#rows === 4) process.stdout.write("\x1b[1A");
    if (this.#rows > 0) process.stdout.write("\r\x1b[J");
    this.#rows = 0;
  }
}
