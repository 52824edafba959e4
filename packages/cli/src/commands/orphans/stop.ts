import type { Command } from "../../command.ts";
import { oneId } from "../../orphans/one-id.ts";
import { parseDuration } from "../../text/duration.ts";

export const command: Command = {
  name: "orphans stop",
  summary: "end an orphan",
  stops: true,
  usage: "ID [--grace 5s]",
  flags: { grace: { value: "TIME", summary: "time before SIGKILL (default 5s)", complete: "nothing" } },
  arguments: "nothing",
  examples: [["holdfast orphans stop pid-4711", "end it"]],
  async run(context) {
    const grace = context.flags.text("grace");
    const body = grace === undefined ? {} : { graceMs: parseDuration(grace, "--grace") };
    const { orphan, killed } = await context.client.call("stopOrphan", { params: { id: oneId(context) }, body });
    const done = `${orphan.id} stopped (${killed.length === 1 ? "1 process" : `${killed.length} processes`})`;
    process.stdout.write(`${context.json ? JSON.stringify({ ...orphan, killed }) : done}\n`);
    return 0;
  },
};
