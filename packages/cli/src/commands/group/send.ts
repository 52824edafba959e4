import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { readInput } from "../../console/read-input.ts";
import { SAID_FLAGS, sayToGroup } from "../../group/say.ts";

export const command: Command = {
  name: "group send",
  summary: "send a message to a group",
  usage: "GROUP TEXT|- [--coordinator] [--steer] [--reply-to ID] [--expires 10m]",
  description:
    "Delivers the message to every running member of the group and of the groups below it, except the sender. Each copy has its own receipts; see holdfast group log. Messages of agents are marked as such. A shell gets nothing typed; it reads the message with holdfast messages --mine.",
  flags: {
    coordinator: { summary: "send it only to the coordinator" },
    steer: { summary: "deliver during the agents' turns instead of after them" },
    ...SAID_FLAGS,
  },
  arguments: "groups",
  takesRest: true,
  examples: [
    ["holdfast group send team 'the API is frozen now'", "send to all members"],
    ["holdfast group send team --coordinator 'I am done with the parser'", "send to the coordinator"],
  ],
  async run(context) {
    const [group, given, ...more] = [...context.args, ...context.rest];
    if (group === undefined || given === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected a group and one text", { hint: "usage: holdfast group send GROUP 'TEXT'" });
    const text = given === "-" ? (await readInput()).replace(/\r?\n$/, "") : given;
    return sayToGroup(context, { group, text, role: context.flags.has("coordinator") ? "coordinator" : "member" });
  },
};
