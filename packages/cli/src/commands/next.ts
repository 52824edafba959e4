import type { Session } from "@holdfast/contract/session/session";
import { attachTo, chooseNext } from "../attach/on-terminal.ts";
import type { Command, Context } from "../command.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "next",
  summary: "attach to the session that has waited longest",
  section: "Attach to a session",
  usage: "[--idle] [--read-only]",
  description:
    "First come sessions that wait for an approval, an answer, trust or a login, the longest wait first. Then come sessions that hang, then failed sessions that nobody has viewed. For an ended session, the command prints the output of holdfast show.\n\nWhile attached, Ctrl+] moves to the next session. If no session waits, the exit code is 24.",
  flags: {
    idle: { summary: "include sessions that have finished their turn and wait for a prompt" },
    "read-only": { summary: "attach read-only", short: "r" },
  },
  withArgument: (word) => `attach to one session: holdfast attach ${word}`,
  examples: [
    ["holdfast next", "go to the session that needs you"],
    ["holdfast next --json", "print which session that is"],
    ["holdfast next --idle", "include sessions that are idle"],
  ],
  async run(context) {
    const here = process.env.HOLDFAST_RUN?.replace(/-\d+$/, "");
    const next = await chooseNext(context, here, true);
    if (context.json) {
      process.stdout.write(`${JSON.stringify(next)}\n`);
      return 0;
    }
    // An ended session cannot be attached to, so show its result.
    if (next.endedAt !== null && next.restartAt === null) return showEnded(context, next);
    return attachTo(context, next, { readOnly: context.flags.has("read-only"), from: process.env.HOLDFAST_RUN ?? null });
  },
};

async function showEnded(context: Context, next: Session): Promise<number> {
  const show = (await import("./show.ts")).command;
  const code = await show.run({ ...context, args: [next.id] });
  const read = next.kind === "conversation" ? "transcript" : "logs";
  const name = plain(next.name);
  process.stdout.write(`\nRead its output: holdfast ${read} ${name}; continue it: holdfast resume ${name}\n`);
  return code ?? 0;
}
