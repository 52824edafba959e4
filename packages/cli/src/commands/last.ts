import type { Command } from "../command.ts";
import { oneName } from "../session/select.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "last",
  summary: "print an agent's last answer",
  onlyReads: true,
  section: "Watch sessions",
  onlyPrints: true,
  usage: "NAME",
  description:
    "Prints the final answer that the agent reported at the end of its turn. Nothing is read from the screen. If the agent reports no answer, the exit code is 26.",
  arguments: "sessions",
  examples: [
    ["holdfast last api", "print the whole answer"],
    ["holdfast last api --json", "include its turn and time"],
  ],
  pages: () => true,
  async run(context) {
    const { session, ...last } = await context.client.call("getLastReply", { params: { ref: oneName(context, "last NAME") } });
    if (context.json) {
      process.stdout.write(`${JSON.stringify({ session: session.id, name: session.name, ...last })}\n`);
      return 0;
    }
    process.stdout.write(`${process.stdout.isTTY ? printable(last.reply) : last.reply}\n`);
    if (last.cut) process.stderr.write(`holdfast: the answer is longer; the first ${last.reply.length} characters were recorded\n`);
    return 0;
  },
};

/** Makes the agent's text safe to print on a terminal. */
function printable(reply: string): string {
  return reply
    .split(/\r?\n/)
    .map((line) => plain(line.replaceAll("\t", "    ")))
    .join("\n");
}
