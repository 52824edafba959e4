import type { Command } from "../../command.ts";
import { writeOut } from "../../console/write-out.ts";
import { diffText } from "../../text/diff.ts";
import { checkpointArguments } from "../../workspace/checkpoint-arguments.ts";

export const command: Command = {
  name: "checkpoint diff",
  summary: "show the changes between two checkpoints, or since one",
  usage: "[NAME] [FROM [TO]] [--stat | --names]",
  description:
    "FROM defaults to the newest checkpoint, or to the one of the last rewind. TO defaults to the current files, including new ones.",
  arguments: "checkpoints",
  flags: { stat: { summary: "show statistics per file" }, names: { summary: "show file names" } },
  examples: [
    ["holdfast checkpoint diff fix-login", "show the changes since the last turn"],
    ["holdfast checkpoint diff fix-login 2 3", "show the changes of one turn"],
    ["holdfast checkpoint diff fix-login 1 --stat", "show statistics since checkpoint 1"],
  ],
  pages: () => true,
  async run({ args, client, flags, json }) {
    const { ref, numbers } = checkpointArguments({ args }, "diff", 2);
    const query = { from: numbers[0], to: numbers[1], stat: flags.has("stat"), names: flags.has("names"), color: false };
    const reply = await client.call("diffCheckpoints", { params: { ref }, query });
    await writeOut(json ? `${JSON.stringify(reply)}\n` : diffText(reply.diff));
    if (!json && reply.diff === "" && process.stderr.isTTY)
      process.stderr.write(reply.to === null ? `No changes since checkpoint ${reply.from}.\n` : "No changes.\n");
    return 0;
  },
};
