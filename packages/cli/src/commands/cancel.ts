import type { Command } from "../command.ts";
import { plain } from "../plain.ts";
import { oneName } from "../select.ts";

export const command: Command = {
  name: "cancel",
  summary: "interrupt what a session's agent is doing; what it said so far stays",
  usage: "NAME",
  description: "The session goes on and takes the next prompt. To end it: holdfast stop.",
  flags: {},
  arguments: "sessions",
  examples: [["holdfast cancel api", "the turn that runs"]],
  async run(context) {
    const { session, cancelled } = await context.client.call("cancelTurn", { params: { ref: oneName(context, "cancel NAME") }, body: {} });
    if (context.json) process.stdout.write(`${JSON.stringify({ ...session, cancelled })}\n`);
    else process.stdout.write(`${plain(session.name)}: ${cancelled ? "interrupted" : "no turn runs"}\n`);
    return 0;
  },
};
