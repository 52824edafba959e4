import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { plain } from "../plain.ts";
import { readInput } from "../read-input.ts";
import { typedLines } from "../typed.ts";

export const command: Command = {
  name: "send",
  summary: "type text into a session, then Enter",
  usage: "NAME TEXT|- [--no-enter] [--force] [-- TEXT]",
  description:
    "In one piece, as a paste where the program takes pastes. Several lines for a program that does not are refused: it would run\neach as a command of its own. --force types them all the same. What several senders send at once is never mixed.\nA program that is not reading gets it when it does; the answer then says how much waits.",
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
    const { session, bytes, pasted, waitingBytes } = reply;
    const done = `${bytes} ${bytes === 1 ? "byte" : "bytes"} ${pasted ? "pasted" : "typed"} into ${plain(session.name)}`;
    const lines = typedLines({ done, name: session.name, bytes, waiting: waitingBytes });
    process.stdout.write(context.json ? `${JSON.stringify({ ...session, bytes, pasted, waitingBytes })}\n` : lines);
    return 0;
  },
};
