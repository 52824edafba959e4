import { counted } from "@holdfast/platform/units";
import type { Command } from "../../command.ts";
import { checkpointArguments } from "../../workspace/checkpoint-arguments.ts";
import { leftOutText } from "../../workspace/checkpoint-text.ts";

export const command: Command = {
  name: "checkpoint create",
  summary: "record the current files of a workspace",
  usage: "[NAME] [--note TEXT]",
  description: "Includes new files, but no ignored files. Branch, index and stash stay untouched; a working agent does not notice.",
  arguments: "workspaces",
  flags: { note: { value: "TEXT", summary: "a note to remember it by", complete: "nothing" } },
  examples: [["holdfast checkpoint create fix-login --note 'tests pass'", "record the files now, even during a turn"]],
  async run({ args, client, flags, json }) {
    const { ref } = checkpointArguments({ args }, "create", 0);
    const checkpoint = await client.call("createCheckpoint", { params: { ref }, body: { note: flags.text("note") } });
    if (json) process.stdout.write(`${JSON.stringify(checkpoint)}\n`);
    else process.stdout.write(`Checkpoint ${checkpoint.number}: ${counted(checkpoint.files, "file")} changed since the last one.\n`);
    if (!json) for (const line of leftOutText(checkpoint)) process.stderr.write(`${line}\n`);
    return 0;
  },
};
