import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { logEntry } from "../../group/message-text.ts";
import { wholeNumber } from "../../session/select.ts";

export const command: Command = {
  name: "group log",
  summary: "list the messages to a group and between its members, with replies",
  onlyReads: true,
  usage: "GROUP [--limit N]",
  flags: { limit: { value: "N", summary: "the newest N messages (default 100)", complete: "nothing" } },
  arguments: "groups",
  examples: [
    ["holdfast group log team", "show the delivery state of each copy"],
    ["holdfast group log team --json --limit 10", "for a script"],
  ],
  pages: () => true,
  async run(context) {
    const [group, ...more] = context.args;
    if (group === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected one group", { hint: "usage: holdfast group log GROUP" });
    const limit = wholeNumber(context.flags, "limit");
    if (limit === 0) throw new HoldfastError("usage", "--limit takes a whole number from 1");
    const { messages } = await context.client.call("groupLog", {
      params: { group },
      query: limit === undefined ? {} : { limit: String(limit) },
    });
    if (context.json) process.stdout.write(`${JSON.stringify(messages)}\n`);
    else if (messages.length === 0) process.stdout.write("No messages in this group.\n");
    else process.stdout.write(`${messages.map((message) => logEntry(message, Date.now())).join("\n\n")}\n`);
    return 0;
  },
};
