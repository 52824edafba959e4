/** Reads a line like a line editor: raw mode and bracketed paste are on only while it reads. */
const PASTE = { begin: "\x1b[200~", end: "\x1b[201~" };

export class LineEditor {
  readonly #prompt: string;

  constructor(prompt: string) {
    this.#prompt = prompt;
  }

  /** Null: Ctrl+C or Ctrl+D. */
  read(): Promise<string | null> {
    const { stdin, stdout } = process;
    stdin.setRawMode?.(true);
    stdin.resume();
    stdout.write(`\x1b[?2004h${this.#prompt}`);
    let text = "";
    let pasting = false;
    return new Promise((resolve) => {
      const done = (line: string | null) => {
        stdin.off("data", take);
        stdin.setRawMode?.(false);
        stdin.pause();
        stdout.write("\x1b[?2004l\n");
        resolve(line);
      };
      const type = (piece: string) => {
        text += piece;
        stdout.write(piece.replaceAll("\n", "\r\n"));
      };
      const take = (bytes: Buffer) => {
        for (let rest = bytes.toString("utf8"); rest !== ""; ) {
          const mark = [PASTE.begin, PASTE.end].find((each) => rest.startsWith(each));
          const key = mark ?? rest[0] ?? "";
          rest = rest.slice(key.length);
          if (mark) pasting = mark === PASTE.begin;
          else if (pasting) type(key === "\r" ? "\n" : key);
          else if (key === "\r") return done(text);
          else if (key === "\n") type("\n");
          else if (key === "\x03" || key === "\x04") return done(null);
          else if (key === "\x7f") text = text.slice(0, -1);
          else type(key);
        }
      };
      stdin.on("data", take);
    });
  }
}
