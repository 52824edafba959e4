import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { readInput } from "../../read-input.ts";
import { SAID_FLAGS, sayToGroup } from "../../say-to-group.ts";

export const command: Command = {
  name: "group send",
  summary: "say something to a group",
  usage: "GROUP TEXT|- [--coordinator] [--steer] [--reply-to ID] [--expires 10m]",
  description:
    "To every member that is alive, of the group and of those below it, but for the sender: each is given it as by send, with receipts of its own,\nwhich log shows. What an agent says is marked as an agent's word. It is never typed into a shell: that reads it with messages --mine.",
  flags: {
    coordinator: { summary: "only to the one that coordinates it" },
    steer: { summary: "to agents that work: do not wait for the end of their turn" },
    ...SAID_FLAGS,
  },
  arguments: "groups",
  takesRest: true,
  examples: [
    ["holdfast group send team 'the API is frozen now'", "to everybody in it"],
    ["holdfast group send team --coordinator 'I am done with the parser'", "to the one that coordinates it"],
  ],
  async run(context) {
    const [group, given, ...more] = [...context.args, ...context.rest];
    if (group === undefined || given === undefined || more.length > 0)
      throw new HoldfastError("usage", "say which group and one text", { hint: "usage: holdfast group send GROUP 'TEXT'" });
    const text = given === "-" ? (await readInput()).replace(/\r?\n$/, "") : given;
    return sayToGroup(context, { group, text, role: context.flags.has("coordinator") ? "coordinator" : "member" });
  },
};
