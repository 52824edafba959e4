import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { given } from "../../group/arguments.ts";
import { membersText } from "../../group/text.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group limit",
  summary: "change the maximum number of members",
  usage: "GROUP N|default",
  description: "From 1 to 1,000. default is [groups] limit in config.toml, or 32. Current members stay.",
  arguments: "groups",
  examples: [
    ["holdfast group limit team 64", "allow 64 members"],
    ["holdfast group limit team default", "use the configured limit"],
  ],
  async run(context) {
    const [path = "", text = ""] = given(context, "limit", "GROUP N");
    if (text !== "default" && !/^\d{1,6}$/.test(text)) {
      throw new HoldfastError("usage", `the limit must be a whole number or default, not ${JSON.stringify(text)}`, {
        hint: "for example: holdfast group limit team 64",
      });
    }
    const limit = text === "default" ? null : Number(text);
    const group = await context.client.call("changeGroup", { params: { group: path }, body: { limit } });
    process.stdout.write(context.json ? `${JSON.stringify(group)}\n` : `${plain(group.path)} has ${membersText(group)} members\n`);
    return 0;
  },
};
