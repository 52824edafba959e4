import type { Command } from "../command.ts";
import { plain } from "../plain.ts";
import { oneName } from "../select.ts";

export const command: Command = {
  name: "last",
  summary: "what a session's agent said last",
  onlyReads: true,
  usage: "NAME",
  description:
    "Its final answer, as it told it itself at the end of a turn; nothing is read off a screen. Where it does not tell, the exit code is 26.",
  flags: {},
  arguments: "sessions",
  examples: [
    ["holdfast last api", "the whole of it"],
    ["holdfast last api --json", "with its turn and time"],
  ],
  async run(context) {
    const { session, ...last } = await context.client.call("getLastReply", { params: { ref: oneName(context, "last NAME") } });
    if (context.json) {
      process.stdout.write(`${JSON.stringify({ session: session.id, name: session.name, ...last })}\n`);
      return 0;
    }
    process.stdout.write(`${process.stdout.isTTY ? printable(last.reply) : last.reply}\n`);
    if (last.cut) process.stderr.write(`holdfast: it is longer; the first ${last.reply.length} characters were kept\n`);
    return 0;
  },
};

/** On a terminal, what an agent says cannot do anything to it. */
function printable(reply: string): string {
  return reply
    .split(/\r?\n/)
    .map((line) => plain(line.replaceAll("\t", "    ")))
    .join("\n");
}
