import type { Command } from "../../command.ts";
import { writeOut } from "../../console/write-out.ts";
import { plain } from "../../text/plain.ts";
import { checkpointArguments } from "../../workspace/checkpoint-arguments.ts";
import { changedText, checkpointTable, leftOutText } from "../../workspace/checkpoint-text.ts";

export const command: Command = {
  name: "checkpoint ls",
  summary: "list the checkpoints of a workspace",
  usage: "[NAME]",
  description:
    "FILES is the number of files that differ from the checkpoint before; after a rewind, from the checkpoint that was restored.",
  arguments: "workspaces",
  examples: [
    ["holdfast checkpoint ls fix-login", "list the checkpoints of a workspace, or of a session's workspace"],
    ["holdfast checkpoint ls --json | jq '.[-1].number'", "print the newest, for the workspace of this directory"],
  ],
  async run({ args, client, json }) {
    const { ref } = checkpointArguments({ args }, "ls", 0);
    const { workspace, checkpoints, changed } = await client.call("listCheckpoints", { params: { ref }, query: { now: !json } });
    const newest = checkpoints.at(-1);
    if (json) await writeOut(`${JSON.stringify(checkpoints)}\n`);
    else if (!newest) process.stdout.write(`${plain(workspace)} has no checkpoints. Create one: holdfast checkpoint create ${workspace}\n`);
    if (json || !newest) return 0;
    const some = checkpoints.some(({ session }) => session !== null);
    const { sessions } = some ? await client.call("listSessions", { query: { all: true } }) : { sessions: [] };
    const names = new Map<string, string>(sessions.map(({ id, name }) => [id, name]));
    const lines = [checkpointTable(checkpoints, (id) => names.get(id)), ...leftOutText(newest)];
    await writeOut(`${lines.join("\n")}\n`);
    if (changed !== null) process.stderr.write(`${changedText(changed)}\n`);
    return 0;
  },
};
