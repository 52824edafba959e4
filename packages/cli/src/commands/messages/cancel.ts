import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "messages cancel",
  summary: "withdraw a queued message",
  usage: "ID",
  arguments: "messages",
  examples: [["holdfast messages cancel k7f2m9q4xw", "withdraw a queued message"]],
  async run({ args: [id, ...more], client, json }) {
    if (id === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected the id of one message", { hint: "list them: holdfast messages" });
    const message = await client.call("cancelMessage", { params: { id } });
    process.stdout.write(json ? `${JSON.stringify(message)}\n` : `${id} to ${plain(message.name)} was withdrawn\n`);
    return 0;
  },
};
