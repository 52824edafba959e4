import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Fork } from "@holdfast/contract/session/fork";
import { attachIfAsked, checkAttachFlag } from "../attach/attach-after.ts";
import type { Command } from "../command.ts";
import { readInput } from "../console/read-input.ts";
import { oneName } from "../session/select.ts";
import { plain } from "../text/plain.ts";
import { withProgress } from "../workspace/progress.ts";
import { TRUST_FLAG } from "../workspace/trusting.ts";

export const command: Command = {
  name: "fork",
  summary: "continue a copy of a conversation in a new workspace",
  section: "Stop and resume",
  startsPrograms: true,
  usage: "NAME [--name NEW] [--checkpoint N] [--prompt TEXT|-] [--cwd DIR | --workspace NAME] [--no-setup] [--trust] [--attach]",
  description:
    "Starts the same agent in a new session that remembers everything up to now; from then on the two are independent. The original stays unchanged and can keep working. The fork gets its own branch with the current files of the original; Holdfast makes a checkpoint of them first.\n\nIf the original is not in one of Holdfast's worktrees, the fork gets the checked-out commit and the uncommitted files. Outside a git repository, both share the directory.",
  arguments: "sessions",
  flags: {
    name: { value: "NEW", summary: "name of the new session (default: NAME-fork)", complete: "nothing" },
    checkpoint: { value: "N", summary: "use the files of this checkpoint (holdfast checkpoint ls NAME)", complete: "nothing" },
    prompt: {
      value: "TEXT",
      short: "p",
      summary: "prompt to send once it is ready; - reads standard input",
      complete: "nothing",
    },
    cwd: { value: "DIR", summary: "work in this directory, instead of a new workspace", complete: "directories" },
    workspace: { value: "NAME", summary: "work in this workspace", complete: "workspaces" },
    "no-setup": { summary: "skip the project's setup command in the new workspace" },
    trust: TRUST_FLAG,
    attach: { summary: "attach to it" },
  },
  examples: [
    ["holdfast fork fix-login", "try an alternative from here"],
    ["holdfast fork fix-login --name plan-b --prompt 'now do it without the cache'", "fork with a prompt"],
    ["holdfast fork fix-login --checkpoint 3", "fork with the files of checkpoint 3"],
  ],
  async run(context) {
    const { flags, client } = context;
    checkAttachFlag(context);
    const ref = oneName(context, "fork NAME");
    const given = flags.text("prompt");
    const prompt = given === "-" ? (await readInput()).trimEnd() : given;
    if (prompt === "") throw new HoldfastError("usage", "the prompt is empty", { hint: "omit --prompt, or give it a text" });
    const cwd = flags.text("cwd");
    if (flags.has("no-setup") && (cwd ?? flags.text("workspace")) !== undefined)
      throw new HoldfastError("usage", "--no-setup applies only to a new workspace", {
        hint: "omit --no-setup: an existing workspace needs no setup",
      });
    const body = {
      name: flags.text("name"),
      checkpoint: checkpointOf(flags.text("checkpoint")),
      cwd: cwd === undefined ? undefined : resolve(cwd),
      workspace: flags.text("workspace"),
      setup: !flags.has("no-setup"),
    };
    const fork = await withProgress(context, () => client.call("forkSession", { params: { ref }, body }), "copying");
    if (prompt !== undefined) await client.call("sendMessage", { params: { ref: fork.id }, body: { text: prompt } });
    process.stdout.write(`${context.json ? JSON.stringify(fork) : told(fork)}\n`);
    if (!context.json) for (const note of fork.notes) process.stderr.write(`note: ${plain(note)}\n`);
    return attachIfAsked(context, fork.name);
  },
};

function checkpointOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new HoldfastError("usage", `--checkpoint takes a number, not ${JSON.stringify(text)}`, {
    hint: "list the checkpoints: holdfast checkpoint ls NAME",
  });
}

function told(fork: Fork): string {
  const [name, original] = [plain(fork.name), plain(fork.forkedFrom?.name ?? "")];
  const branch = fork.workspace?.branch ? ` on branch ${plain(fork.workspace.branch)}` : "";
  const where = {
    checkpoint: `with the files of checkpoint ${fork.forkedFrom?.checkpoint}, in ${plain(fork.cwd)}${branch}`,
    copied: `with its current files, in ${plain(fork.cwd)}${branch}`,
    shared: `in the same directory, ${plain(fork.cwd)}: it is not a git repository, so both work on the same files`,
    given: `in ${plain(fork.cwd)}${branch}`,
  }[fork.files];
  return `${name} continues a copy of the conversation of ${original}, ${where}`;
}
