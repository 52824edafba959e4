import { HoldfastError } from "@holdfast/contract/errors";
import { checkpointArguments } from "../../checkpoint-arguments.ts";
import { leftOutText } from "../../checkpoint-text.ts";
import type { Command } from "../../command.ts";
import { plain } from "../../plain.ts";

export const command: Command = {
  name: "checkpoint rewind",
  summary: "bring files and branch back to a checkpoint",
  usage: "[NAME] NUMBER [--files-only] [--force]",
  description:
    "What is there becomes a checkpoint first, so that a rewind can be undone by another. Then the files are those of the checkpoint: new ones are\ngone, deleted ones are back; ignored files stay. The branch points to the commit it pointed to, and nothing is staged. Refused while a session\nthere is in a turn, and while a merge or rebase is under way.",
  arguments: "checkpoints",
  flags: {
    "files-only": { summary: "the branch stays where it is; what differs shows as uncommitted changes" },
    force: { summary: "also while a session there is in a turn" },
  },
  examples: [
    ["holdfast checkpoint rewind fix-login 3", "as it was at checkpoint 3"],
    ["holdfast checkpoint rewind fix-login 3 --files-only", "the commits that came after stay on the branch"],
  ],
  async run({ args, client, flags, json }) {
    const { ref, numbers } = checkpointArguments({ args }, "rewind", 1);
    const [number] = numbers;
    if (number === undefined)
      throw new HoldfastError("usage", "say to which checkpoint", { hint: "see what there is: holdfast checkpoint ls" });
    const body = { number, filesOnly: flags.has("files-only"), force: flags.has("force") };
    const reply = await client.call("rewindWorkspace", { params: { ref }, body });
    if (json) {
      process.stdout.write(`${JSON.stringify(reply)}\n`);
      return 0;
    }
    const { to, before, workspace } = reply;
    const where = to.head === null ? "" : ` at ${to.head.slice(0, 10)}`;
    const branch = body.filesOnly ? "its branch is where it was" : `${plain(to.branch ?? "no branch")} is checked out${where}`;
    process.stdout.write(`${plain(workspace)} has the files of checkpoint ${to.number}; ${branch}.\n`);
    for (const line of leftOutText(to)) process.stderr.write(`${line}\n`);
    process.stderr.write(
      `What was there is checkpoint ${before.number}; back to it: holdfast checkpoint rewind ${plain(workspace)} ${before.number}\n`,
    );
    return 0;
  },
};
