/** A trust dialog at the start, as in real agents. Its default is no, as in Claude Code. */
const CHOICES = ["No, exit", "Yes, I trust this folder", "Yes, and the folder above it"];

/** Up and down, in both encodings of terminals. */
const ARROWS = ["\x1b[A", "\x1b[B", "\x1bOA", "\x1bOB"];

export function askTrust(directory: string): Promise<boolean> {
  const { stdin, stdout } = process;
  let at = 0;
  const draw = () => CHOICES.map((choice, i) => `\x1b[K${i === at ? "❯" : " "} ${choice}`).join("\r\n");
  stdout.write(`Accessing workspace:\r\n${directory}\r\nDo you trust this folder?\r\n${draw()}\r\nEnter to confirm · Esc to cancel`);
  stdin.setRawMode?.(true);
  return new Promise((resolve) => {
    const decide = (yes: boolean) => {
      stdin.off("data", hear);
      stdout.write(`\r\x1b[${CHOICES.length + 2}A\x1b[J`);
      resolve(yes);
    };
    const hear = (data: Buffer) => {
      const keys = data.toString();
      if (ARROWS.includes(keys)) {
        const by = keys.endsWith("A") ? CHOICES.length - 1 : 1;
        at = (at + by) % CHOICES.length;
        stdout.write(`\r\x1b[${CHOICES.length}A${draw()}\r\n`);
        stdout.write("\x1b[KEnter to confirm · Esc to cancel");
      } else if (keys === "\r" || keys === "\n") decide(at > 0);
      else if (keys === "\x1b" || keys === "\x03") decide(false);
    };
    stdin.on("data", hear);
    stdin.resume();
  });
}
