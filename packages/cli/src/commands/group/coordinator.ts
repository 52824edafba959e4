import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group coordinator",
  summary: "show or change the coordinator of a group",
  usage: "GROUP [SESSION]",
  description:
    "The first member is the coordinator until somebody changes it. When the coordinator ends, leaves or is removed, the running member with the longest membership takes over.",
  arguments: "group-members",
  examples: [
    ["holdfast group coordinator team", "show the coordinator"],
    ["holdfast group coordinator team web", "make web the coordinator"],
  ],
  async run(context) {
    const [path, session, ...more] = context.args;
    if (path === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected GROUP, or GROUP SESSION", { hint: "see: holdfast group coordinator --help" });
    const params = { group: path };
    const group =
      session === undefined
        ? await context.client.call("getGroup", { params })
        : await context.client.call("setCoordinator", { params, body: { session } });
    if (context.json) process.stdout.write(`${JSON.stringify(group)}\n`);
    else if (session !== undefined) process.stdout.write(`${plain(group.coordinator?.name ?? "")} coordinates ${plain(group.path)}\n`);
    else process.stdout.write(`${plain(group.coordinator?.name ?? "nobody: no member is running")}\n`);
    return 0;
  },
};
