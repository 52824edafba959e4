import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../text/plain.ts";
import { checkpointArguments } from "../../workspace/checkpoint-arguments.ts";
import { leftOutText } from "../../workspace/checkpoint-text.ts";

export const command: Command = {
  name: "checkpoint rewind",
  summary: "restore files and branch from a checkpoint",
  usage: "[NAME] NUMBER [--files-only] [--force]",
  description:
    "The current state becomes a checkpoint first, so another rewind undoes this one. Then the files are those of the checkpoint: later files are removed, deleted files return, ignored files stay. The branch points to the commit of that time, and nothing is staged. Refused while a session there is in a turn, and during a merge or rebase.",
  arguments: "checkpoints",
  flags: {
    "files-only": { summary: "leave the branch; differences become uncommitted changes" },
    force: { summary: "rewind even while a session there is in a turn" },
  },
  examples: [
    ["holdfast checkpoint rewind fix-login 3", "restore checkpoint 3"],
    ["holdfast checkpoint rewind fix-login 3 --files-only", "keep the later commits on the branch"],
  ],
  async run({ args, client, flags, json }) {
    const { ref, numbers } = checkpointArguments({ args }, "rewind", 1);
    const [number] = numbers;
    if (number === undefined)
      throw new HoldfastError("usage", "expected the number of a checkpoint", { hint: "list the checkpoints: holdfast checkpoint ls" });
    const body = { number, filesOnly: flags.has("files-only"), force: flags.has("force") };
    const reply = await client.call("rewindWorkspace", { params: { ref }, body });
    if (json) {
      process.stdout.write(`${JSON.stringify(reply)}\n`);
      return 0;
    }
    const { to, before, workspace } = reply;
    const where = to.head === null ? "" : ` at ${to.head.slice(0, 10)}`;
    const branch = body.filesOnly ? "its branch is unchanged" : `${plain(to.branch ?? "no branch")} is checked out${where}`;
    process.stdout.write(`${plain(workspace)} has the files of checkpoint ${to.number}; ${branch}.\n`);
    for (const line of leftOutText(to)) process.stderr.write(`${line}\n`);
    process.stderr.write(
      `The state before is checkpoint ${before.number}; undo: holdfast checkpoint rewind ${plain(workspace)} ${before.number}\n`,
    );
    return 0;
  },
};
