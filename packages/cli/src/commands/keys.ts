import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { typedLines } from "../message/typed.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "keys",
  summary: "press keys in a session: C-c, Up, Escape, …",
  section: "Send and answer",
  onlyPrints: true,
  usage: "NAME KEY…",
  description:
    "A key is one character, or Enter Tab Escape Space BSpace Up Down Left Right Home End PageUp PageDown IC DC F1…F12, with C-, M- or S- before it if needed.",
  arguments: "sessions",
  examples: [
    ["holdfast keys build C-c", "interrupt the program"],
    ["holdfast keys demo Up Enter", "repeat the last prompt"],
  ],
  async run(context) {
    const [ref, ...keys] = context.args;
    if (ref === undefined || keys.length === 0)
      throw new HoldfastError("usage", "expected a session and keys", { hint: "for example: holdfast keys build C-c" });
    const reply = await context.client.call("pressKeys", { params: { ref }, body: { keys } });
    const { session, pressed, waitingBytes } = reply;
    const done = `${pressed === 1 ? "1 key" : `${pressed} keys`} pressed in ${plain(session.name)}`;
    const lines = typedLines({ done, name: session.name, bytes: pressed, waiting: waitingBytes });
    process.stdout.write(context.json ? `${JSON.stringify({ ...session, pressed, waitingBytes })}\n` : lines);
    return 0;
  },
};
