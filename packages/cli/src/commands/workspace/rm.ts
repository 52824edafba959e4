import { HoldfastError } from "@holdfast/contract/errors";
import type { RemoveOutcome } from "@holdfast/contract/workspace/end";
import type { Command } from "../../command.ts";
import { printError } from "../../console/print-error.ts";
import { callerEnvironment } from "../../session/start.ts";
import { plain } from "../../text/plain.ts";
import { lossLines, printNotes } from "../../workspace/text.ts";

export const command: Command = {
  name: "workspace rm",
  summary: "remove workspaces and their branches; refuses to lose work",
  usage: "NAME… [--force] [--dry-run]",
  description:
    "Refuses and lists what would be lost: uncommitted files, commits that are neither merged nor pushed, sessions in the workspace. --force stops those sessions and removes the workspace. Everything except ignored files is backed up; get it back with holdfast workspace recover NAME.",
  arguments: "workspaces",
  flags: {
    force: { summary: "remove it with its work: stop its sessions and back up the rest", short: "f" },
    "dry-run": { summary: "print what would be lost" },
  },
  examples: [
    ["holdfast workspace rm fix-login", "remove a merged workspace"],
    ["holdfast workspace rm fix-login --dry-run", "print what would be lost"],
    ["holdfast workspace rm try-1 try-2 --force", "remove workspaces with unmerged work"],
  ],
  async run(context) {
    const { args, client, flags, json } = context;
    if (args.length === 0) throw new HoldfastError("usage", "expected a workspace to remove", { hint: "list them: holdfast workspace ls" });
    const body = { env: callerEnvironment(), force: flags.has("force"), dryRun: flags.has("dry-run") };
    const outcomes: RemoveOutcome[] = [];
    let code = 0;
    for (const ref of args) {
      try {
        const outcome = await client.call("removeWorkspace", { params: { ref }, body });
        outcomes.push(outcome);
        if (json) continue;
        process.stdout.write(`${render(outcome)}\n`);
        printNotes(outcome.notes);
      } catch (error) {
        const exit = printError(HoldfastError.from(error), { json });
        code ||= exit;
      }
    }
    if (json) process.stdout.write(`${JSON.stringify(outcomes)}\n`);
    return code;
  },
};

function render({ workspace, dryRun, losses, ref }: RemoveOutcome): string {
  const name = plain(workspace.name);
  const lost = lossLines(losses);
  if (dryRun) return lost.length === 0 ? `${name}: nothing would be lost` : [`${name} would lose:`, ...lost].join("\n");
  const back = ref === null ? "" : `; recover it: holdfast workspace recover ${name}`;
  return `${name} removed${back}`;
}
