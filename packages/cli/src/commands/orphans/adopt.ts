import type { Command } from "../../command.ts";
import { oneId } from "../../orphans/one-id.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "orphans adopt",
  summary: "turn an orphan into a session again",
  stops: true,
  usage: "ID",
  arguments: "nothing",
  examples: [["holdfast orphans adopt k7f2m9q4xw-1", "turn it into a session again"]],
  async run(context) {
    const session = await context.client.call("adoptOrphan", { params: { id: oneId(context) }, body: {} });
    process.stdout.write(context.json ? `${JSON.stringify(session)}\n` : `${plain(session.name)} is a session again\n`);
    return 0;
  },
};
