import { checkpointArguments } from "../../checkpoint-arguments.ts";
import { hasColor } from "../../color.ts";
import type { Command } from "../../command.ts";
import { writeOut } from "../../write-out.ts";

export const command: Command = {
  name: "checkpoint diff",
  summary: "what changed between two checkpoints, or since one",
  usage: "[NAME] [FROM [TO]] [--stat | --names]",
  description:
    "Without FROM, since the newest, or since the one that was last gone back to; without TO, up to what is there now, new files included.",
  arguments: "checkpoints",
  flags: { stat: { summary: "only how much, file by file" }, names: { summary: "only which files" } },
  examples: [
    ["holdfast checkpoint diff fix-login", "since the last turn"],
    ["holdfast checkpoint diff fix-login 2 3", "what was done between the two: one turn"],
    ["holdfast checkpoint diff fix-login 1 --stat", "how much of what was done since checkpoint 1"],
  ],
  async run({ args, client, flags, json }) {
    const { ref, numbers } = checkpointArguments({ args }, "diff", 2);
    const query = { from: numbers[0], to: numbers[1], stat: flags.has("stat"), names: flags.has("names"), color: !json && hasColor() };
    const reply = await client.call("diffCheckpoints", { params: { ref }, query });
    await writeOut(json ? `${JSON.stringify(reply)}\n` : reply.diff);
    if (!json && reply.diff === "" && process.stderr.isTTY)
      process.stderr.write(reply.to === null ? `Nothing changed since checkpoint ${reply.from}.\n` : "They are the same.\n");
    return 0;
  },
};
