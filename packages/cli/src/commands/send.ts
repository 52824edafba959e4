import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { plain } from "../plain.ts";
import { readInput } from "../read-input.ts";

export const command: Command = {
  name: "send",
  summary: "type text into a session, then Enter",
  usage: "NAME TEXT|- [--no-enter] [--force] [-- TEXT]",
  description:
    "In one piece, as a paste where the program takes pastes. Several lines for a program that does not are refused: it would run\neach as a command of its own. --force types them all the same. What several senders send at once is never mixed.",
  flags: {
    "no-enter": { summary: "leave out the Enter" },
    force: { summary: "type several lines into a program that takes no pastes" },
  },
  arguments: "sessions",
  takesRest: true,
  examples: [
    ["holdfast send demo 'fix the login bug'", "a prompt"],
    ["holdfast send demo - < prompt.md", "from standard input"],
    ["holdfast send demo -- '- a list'", "a text that begins with a dash"],
    ["holdfast send sh 'rm -i x' --no-enter", "for you to look at before Enter"],
  ],
  async run(context) {
    const [ref, text, ...more] = [...context.args, ...context.rest];
    if (ref === undefined || text === undefined || more.length > 0) {
      throw new HoldfastError("usage", "say which session and one text", {
        hint: "usage: holdfast send NAME 'TEXT', or - for standard input",
      });
    }
    const typed = text === "-" ? (await readInput()).replace(/\r?\n$/, "") : text;
    const body = { text: typed, enter: !context.flags.has("no-enter"), force: context.flags.has("force") };
    const reply = await context.client.call("sendText", { params: { ref }, body });
    const what = `${reply.bytes} ${reply.bytes === 1 ? "byte" : "bytes"} ${reply.pasted ? "pasted" : "typed"} into ${plain(reply.session.name)}`;
    process.stdout.write(
      context.json ? `${JSON.stringify({ ...reply.session, bytes: reply.bytes, pasted: reply.pasted })}\n` : `${what}\n`,
    );
    return 0;
  },
};
