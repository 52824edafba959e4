import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../plain.ts";

export const command: Command = {
  name: "group goal",
  summary: "show or change the goal of a group; its members are told",
  usage: "GROUP [TEXT | --none]",
  description:
    "Each member that is alive gets the new goal as a message. Agents that are started in the group are told it with their first words.",
  arguments: "groups",
  flags: { none: { summary: "take the goal away" } },
  examples: [
    ["holdfast group goal team", "print it"],
    ["holdfast group goal team 'ship the new parser'", "change it, and tell the members"],
    ["holdfast group goal team --none", "take it away"],
  ],
  async run(context) {
    const [path, text, ...more] = context.args;
    const none = context.flags.has("none");
    if (path === undefined || more.length > 0 || (none && text !== undefined))
      throw new HoldfastError("usage", "name one group, and at most one goal", {
        hint: "usage: holdfast group goal GROUP [TEXT | --none]",
      });
    const params = { group: path };
    const isAsked = text === undefined && !none;
    const group = isAsked
      ? await context.client.call("getGroup", { params })
      : await context.client.call("changeGroup", { params, body: { goal: none ? null : (text ?? "") } });
    const { goal } = group;
    const said = isAsked
      ? (goal ?? "It has no goal.")
      : goal === null
        ? `${group.path} has no goal`
        : `the goal of ${group.path} is: ${goal}`;
    process.stdout.write(context.json ? `${JSON.stringify(group)}\n` : `${said.split("\n").map(plain).join("\n")}\n`);
    return 0;
  },
};
