import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Fork } from "@holdfast/contract/fork-endpoints";
import type { Command } from "../command.ts";
import { plain } from "../plain.ts";
import { readInput } from "../read-input.ts";
import { oneName } from "../select.ts";
import { TRUST_FLAG } from "../trusting.ts";
import { withProgress } from "../workspace-progress.ts";

export const command: Command = {
  name: "fork",
  summary: "carry on a copy of a session's conversation, in a workspace of its own",
  usage: "NAME [--name NEW] [--checkpoint N] [--prompt TEXT|-] [--cwd DIR | --workspace NAME] [--no-setup] [--trust] [--attach]",
  description:
    "The same agent, in a new session that remembers what the original was told and did so far; from then on neither knows of the other. The original stays\nas it is and may go on working. Its files are those of the newest checkpoint, made now if something has changed since, on a branch of its own.\nWhere the original works in no worktree of ours: what is checked out there, with its uncommitted files; outside of a git repository, the same directory.",
  arguments: "sessions",
  flags: {
    name: { value: "NEW", summary: "what to call it (default: NAME-fork)", complete: "nothing" },
    checkpoint: { value: "N", summary: "with the files of this checkpoint (holdfast checkpoint ls NAME)", complete: "nothing" },
    prompt: { value: "TEXT", summary: "what to say to it once it is ready; - reads it from standard input", complete: "nothing" },
    cwd: { value: "DIR", summary: "in this directory as it is, in place of a new workspace", complete: "directories" },
    workspace: { value: "NAME", summary: "in this workspace as it is", complete: "workspaces" },
    "no-setup": { summary: "without the project's set-up command in the new workspace" },
    trust: TRUST_FLAG,
    attach: { summary: "and look at it" },
  },
  examples: [
    ["holdfast fork fix-login", "try something else from here, with all that it knows"],
    ["holdfast fork fix-login --name plan-b --prompt 'now do it without the cache'", "and say what"],
    ["holdfast fork fix-login --checkpoint 3", "with the files as they were at checkpoint 3"],
  ],
  async run(context) {
    const { flags, client } = context;
    const ref = oneName(context, "fork NAME");
    const given = flags.text("prompt");
    const prompt = given === "-" ? (await readInput()).trimEnd() : given;
    if (prompt === "") throw new HoldfastError("usage", "the prompt is empty", { hint: "leave --prompt out, or say what it is to do" });
    const cwd = flags.text("cwd");
    if (flags.has("no-setup") && (cwd ?? flags.text("workspace")) !== undefined)
      throw new HoldfastError("usage", "--no-setup is about a new workspace", {
        hint: "leave it out: nothing is set up in one that is there",
      });
    const body = {
      name: flags.text("name"),
      checkpoint: checkpointOf(flags.text("checkpoint")),
      cwd: cwd === undefined ? undefined : resolve(cwd),
      workspace: flags.text("workspace"),
      setup: !flags.has("no-setup"),
    };
    const fork = await withProgress(context, () => client.call("forkSession", { params: { ref }, body }), "making the copy");
    if (prompt !== undefined) await client.call("sendMessage", { params: { ref: fork.id }, body: { text: prompt } });
    process.stdout.write(`${context.json ? JSON.stringify(fork) : told(fork)}\n`);
    if (!context.json) for (const note of fork.notes) process.stderr.write(`note: ${plain(note)}\n`);
    if (!flags.has("attach")) return 0;
    const attach = (await import("./attach.ts")).command;
    return (await attach.run({ ...context, args: [fork.name] })) ?? 0;
  },
};

function checkpointOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new HoldfastError("usage", `--checkpoint takes a number, not ${JSON.stringify(text)}`, {
    hint: "list them: holdfast checkpoint ls NAME",
  });
}

function told(fork: Fork): string {
  const [name, original] = [plain(fork.name), plain(fork.forkedFrom?.name ?? "")];
  const branch = fork.workspace?.branch ? ` on the branch ${plain(fork.workspace.branch)}` : "";
  const where = {
    checkpoint: `with the files of its checkpoint ${fork.forkedFrom?.checkpoint}, in ${plain(fork.cwd)}${branch}`,
    copied: `with its files as they are now, in ${plain(fork.cwd)}${branch}`,
    shared: `in the same directory, ${plain(fork.cwd)}: it is not in a git repository, so both work on the same files`,
    given: `in ${plain(fork.cwd)}${branch}`,
  }[fork.files];
  return `${name} carries on a copy of the conversation of ${original}, ${where}`;
}
