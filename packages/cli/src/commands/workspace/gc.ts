import { HoldfastError } from "@holdfast/contract/errors";
import type { Collected, CollectOutcome } from "@holdfast/contract/workspace/end";
import type { Command } from "../../command.ts";
import { callerEnvironment } from "../../session/start.ts";
import { color } from "../../text/color.ts";
import { parseDuration } from "../../text/duration.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "workspace gc",
  summary: "remove merged and orphaned workspaces and old backups; lists them unless --yes",
  usage: "[--yes] [--older-than TIME]",
  description:
    "Without --yes, lists what would be removed and why. Uncommitted or unmerged work and workspaces with a session are never removed. A removed workspace can be recovered, as after rm.",
  arguments: "nothing",
  flags: {
    yes: { summary: "remove them", short: "y" },
    "older-than": { value: "TIME", summary: "delete backups of removed workspaces after this time (default: 30d)", complete: "nothing" },
  },
  examples: [
    ["holdfast workspace gc", "list what would be removed, and why"],
    ["holdfast workspace gc --yes", "remove it"],
    ["holdfast workspace gc --yes --older-than 7d", "include backups older than a week"],
  ],
  async run(context) {
    const { args, flags, json } = context;
    if (args.length > 0) throw new HoldfastError("usage", "gc takes no names", { hint: "to remove one: holdfast workspace rm NAME" });
    const age = flags.text("older-than");
    const body = {
      env: callerEnvironment(),
      dryRun: !flags.has("yes"),
      ...(age === undefined ? {} : { olderThanMs: parseDuration(age, "--older-than") }),
    };
    const outcome = await context.client.call("collectWorkspaces", { body });
    process.stdout.write(json ? `${JSON.stringify(outcome)}\n` : `${render(outcome)}\n`);
    return 0;
  },
};

function render({ dryRun, removed, kept }: CollectOutcome): string {
  const head = removed.length === 0 ? "Nothing to remove." : dryRun ? `${removed.length} would be removed:` : `${removed.length} removed:`;
  const lines = [head, ...removed.map(line), ...(kept.length > 0 ? ["Kept:", ...kept.map(line)] : [])];
  if (dryRun && removed.length > 0) lines.push(color("dim", "Remove them: holdfast workspace gc --yes"));
  return lines.join("\n");
}

function line({ what, why }: Collected): string {
  return `  ${plain(what)}: ${plain(why)}`;
}
