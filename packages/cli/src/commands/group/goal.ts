import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group goal",
  summary: "show or change the goal of a group; its members are told",
  usage: "GROUP [TEXT | --none]",
  description: "Every running member gets the new goal as a message. Agents started in the group get it with their first prompt.",
  arguments: "groups",
  flags: { none: { summary: "remove the goal" } },
  examples: [
    ["holdfast group goal team", "print the goal"],
    ["holdfast group goal team 'ship the new parser'", "change the goal and tell the members"],
    ["holdfast group goal team --none", "remove the goal"],
  ],
  async run(context) {
    const [path, text, ...more] = context.args;
    const none = context.flags.has("none");
    if (path === undefined || more.length > 0 || (none && text !== undefined))
      throw new HoldfastError("usage", "expected a group and at most one goal", {
        hint: "usage: holdfast group goal GROUP [TEXT | --none]",
      });
    const params = { group: path };
    const isAsked = text === undefined && !none;
    const group = isAsked
      ? await context.client.call("getGroup", { params })
      : await context.client.call("changeGroup", { params, body: { goal: none ? null : (text ?? "") } });
    const { goal } = group;
    const said = isAsked
      ? (goal ?? "The group has no goal.")
      : goal === null
        ? `${group.path} has no goal`
        : `the goal of ${group.path} is: ${goal}`;
    process.stdout.write(context.json ? `${JSON.stringify(group)}\n` : `${said.split("\n").map(plain).join("\n")}\n`);
    return 0;
  },
};
