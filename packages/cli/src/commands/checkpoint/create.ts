import { counted } from "@holdfast/platform/units";
import { checkpointArguments } from "../../checkpoint-arguments.ts";
import { leftOutText } from "../../checkpoint-text.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "checkpoint create",
  summary: "keep a workspace's files as they are now",
  usage: "[NAME] [--note TEXT]",
  description: "New files are in it, ignored ones are not. Branch, index and stash are not touched; an agent at work does not notice.",
  arguments: "workspaces",
  flags: { note: { value: "TEXT", summary: "what to remember it by", complete: "nothing" } },
  examples: [["holdfast checkpoint create fix-login --note 'tests pass'", "now, also in the middle of a turn"]],
  async run({ args, client, flags, json }) {
    const { ref } = checkpointArguments({ args }, "create", 0);
    const checkpoint = await client.call("createCheckpoint", { params: { ref }, body: { note: flags.text("note") } });
    if (json) process.stdout.write(`${JSON.stringify(checkpoint)}\n`);
    else process.stdout.write(`Checkpoint ${checkpoint.number}: ${counted(checkpoint.files, "file")} changed since the last one.\n`);
    if (!json) for (const line of leftOutText(checkpoint)) process.stderr.write(`${line}\n`);
    return 0;
  },
};
