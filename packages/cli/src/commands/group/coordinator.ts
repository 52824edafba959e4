import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../plain.ts";

export const command: Command = {
  name: "group coordinator",
  summary: "who coordinates a group, or hand that over to another member",
  usage: "GROUP [SESSION]",
  description:
    "The first member does, until somebody says otherwise. When it ends, leaves or is removed, the member that has been there longest and is alive takes over.",
  arguments: "group-members",
  flags: {},
  examples: [
    ["holdfast group coordinator team", "who it is"],
    ["holdfast group coordinator team web", "from now on it is web"],
  ],
  async run(context) {
    const [path, session, ...more] = context.args;
    if (path === undefined || more.length > 0)
      throw new HoldfastError("usage", "say GROUP, or GROUP SESSION", { hint: "see: holdfast group coordinator --help" });
    const params = { group: path };
    const group =
      session === undefined
        ? await context.client.call("getGroup", { params })
        : await context.client.call("setCoordinator", { params, body: { session } });
    if (context.json) process.stdout.write(`${JSON.stringify(group)}\n`);
    else if (session !== undefined) process.stdout.write(`${plain(group.coordinator?.name ?? "")} coordinates ${plain(group.path)}\n`);
    else process.stdout.write(`${plain(group.coordinator?.name ?? "nobody: no member is alive")}\n`);
    return 0;
  },
};
