import type { Command } from "../command.ts";
import { oneName } from "../session/select.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "screen",
  summary: "print the current screen of a session",
  section: "Read output",
  onlyPrints: true,
  usage: "NAME [--ansi]",
  flags: { ansi: { summary: "include colours and attributes" } },
  arguments: "sessions",
  examples: [
    ["holdfast screen demo", "print the screen as text"],
    ["holdfast screen demo --json", "include size, cursor and title"],
  ],
  async run(context) {
    const screen = await context.client.call("getScreen", { params: { ref: oneName(context, "screen NAME") } });
    if (context.json) process.stdout.write(`${JSON.stringify(screen)}\n`);
    else if (context.flags.has("ansi")) process.stdout.write(`${screen.ansi}\x1b[0m\n`);
    else process.stdout.write(`${screen.lines.map(visible).join("\n").trimEnd()}\n`);
    return 0;
  },
};

/** Some agents draw empty cells with a zero-width space, which hides nothing. */
function visible(line: string): string {
  return plain(line.replaceAll(/[\u200b\u2060\ufeff]/g, "")).trimEnd();
}
