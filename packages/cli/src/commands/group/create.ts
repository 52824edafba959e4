import { counted } from "@holdfast/platform/units";
import type { Command } from "../../command.ts";
import { given } from "../../group-arguments.ts";
import { plain } from "../../plain.ts";
import { wholeNumber } from "../../select.ts";

export const command: Command = {
  name: "group create",
  summary: "make a group without anybody in it; join makes one as well",
  usage: "GROUP [--limit N] [--goal TEXT]",
  description: "team/research is a group in team, which is made with it where it is not there yet.",
  arguments: "groups",
  flags: {
    limit: { value: "N", summary: "how many members it may have (default: 32, or [groups] limit of config.toml)", complete: "nothing" },
    goal: { value: "TEXT", summary: "what its members are there for; they are told", complete: "nothing" },
  },
  examples: [
    ["holdfast group create team", "one that sessions join later"],
    ["holdfast group create team --goal 'ship the new parser'", "with a goal that its members are told"],
    ["holdfast group create team/research --limit 64", "one in it, for many"],
  ],
  async run(context) {
    const [path = ""] = given(context, "create", "GROUP");
    const goal = context.flags.text("goal");
    const body = { path, limit: wholeNumber(context.flags, "limit"), ...(goal === undefined ? {} : { goal }) };
    const group = await context.client.call("createGroup", { body });
    process.stdout.write(
      context.json ? `${JSON.stringify(group)}\n` : `made ${plain(group.path)}, for at most ${counted(group.limit, "member")}\n`,
    );
    return 0;
  },
};
