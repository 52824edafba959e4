import { counted } from "@holdfast/platform/units";
import type { Command } from "../../command.ts";
import { given } from "../../group/arguments.ts";
import { wholeNumber } from "../../session/select.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group create",
  summary: "create an empty group; join also creates groups",
  usage: "GROUP [--limit N] [--goal TEXT]",
  description: "team/research is a group inside team. Missing parent groups are created.",
  arguments: "groups",
  flags: {
    limit: { value: "N", summary: "maximum number of members (default: 32, or [groups] limit in config.toml)", complete: "nothing" },
    goal: { value: "TEXT", summary: "goal of the group; its members are told", complete: "nothing" },
  },
  examples: [
    ["holdfast group create team", "create a group for sessions to join"],
    ["holdfast group create team --goal 'ship the new parser'", "create a group with a goal"],
    ["holdfast group create team/research --limit 64", "create a large group inside another"],
  ],
  async run(context) {
    const [path = ""] = given(context, "create", "GROUP");
    const goal = context.flags.text("goal");
    const body = { path, limit: wholeNumber(context.flags, "limit"), ...(goal === undefined ? {} : { goal }) };
    const group = await context.client.call("createGroup", { body });
    process.stdout.write(
      context.json ? `${JSON.stringify(group)}\n` : `created ${plain(group.path)}, for at most ${counted(group.limit, "member")}\n`,
    );
    return 0;
  },
};
