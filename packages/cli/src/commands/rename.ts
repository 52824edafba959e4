import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "rename",
  summary: "rename a session",
  section: "Stop and resume",
  onlyPrints: true,
  usage: "NAME NEW-NAME",
  arguments: "sessions",
  examples: [["holdfast rename brisk-otter login-fix", "the id stays the same"]],
  async run(context) {
    const [ref, name, ...more] = context.args;
    if (ref === undefined || name === undefined || more.length > 0) {
      throw new HoldfastError("usage", "expected a session and its new name", { hint: "usage: holdfast rename NAME NEW-NAME" });
    }
    const session = await context.client.call("renameSession", { params: { ref }, body: { name } });
    process.stdout.write(context.json ? `${JSON.stringify(session)}\n` : `${plain(ref)} is now ${plain(session.name)}\n`);
    return 0;
  },
};
