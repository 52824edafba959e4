import type { Backup } from "@holdfast/contract/daemon/backup";
import type { DaemonStatus } from "@holdfast/contract/daemon/endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import { counted } from "@holdfast/platform/units";
import type { Command, Context } from "../../command.ts";
import { color } from "../../text/color.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "backup restore",
  summary: "go back to a backup",
  usage: "NAME [--yes]",
  flags: { yes: { summary: "do not ask for confirmation", short: "y" } },
  arguments: "nothing",
  examples: [["holdfast backup restore 20261115T075133123Z-4711-timer", "restore a backup, after confirmation"]],
  async run(context) {
    const [name, ...more] = context.args;
    if (name === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected one backup", { hint: "list them: holdfast backup ls" });
    const { backups } = await context.client.call("listBackups", {});
    const backup = backups.find((each) => each.name === name);
    if (backup && !context.flags.has("yes")) await confirm(context, backup);
    const { epoch } = await context.client.call("status", {});
    const { before, pid } = await context.client.call("restoreBackup", { params: { name }, body: {} });
    const status = await restored(context, pid);
    if (status.epoch === epoch) {
      throw new HoldfastError("backup_unusable", `the backup ${name} could not be restored; the journal is unchanged`, {
        hint: "choose another: holdfast backup ls",
      });
    }
    if (context.json) process.stdout.write(`${JSON.stringify({ ...status.restored, before: before.name })}\n`);
    else process.stdout.write(`${restoredText(status)}Undo: holdfast backup restore ${before.name}\n`);
    return 0;
  },
};

/** Waits for the next daemon, which answers once it has restored the backup. */
async function restored(context: Context, pid: number): Promise<DaemonStatus> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const status = await context.client.call("status", {});
    if (status.pid !== pid) return status;
    if (performance.now() > deadline)
      throw new HoldfastError("timeout", `the daemon (pid ${pid}) did not stop, so the backup was not restored`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function restoredText({ restored, epoch, seq }: DaemonStatus): string {
  if (!restored) return `The journal is in epoch ${epoch}, ${counted(seq, "event")}.\n`;
  const { rebuilt, removed } = restored.sessions;
  const lines = [
    `Restored ${restored.backup?.name ?? "nothing"}: ${counted(restored.seq, "event")}, epoch ${epoch}.`,
    ...(rebuilt.length > 0 ? [`Rebuilt from their files: ${rebuilt.map(({ name }) => plain(name)).join(", ")}`] : []),
    ...(removed.length > 0 ? [`Removed since, and not rebuilt: ${removed.map(({ name }) => plain(name)).join(", ")}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

async function confirm(context: Context, backup: Backup): Promise<void> {
  const question = `Go back to ${backup.name} (${counted(backup.seq, "event")})? Later events are set aside; sessions keep running.`;
  if (!process.stdin.isTTY || !process.stdout.isTTY || context.json) {
    throw new HoldfastError("usage", "confirmation needed; pass --yes", { hint: "pass --yes" });
  }
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`${question} ${color("bold", "[y/N]")} `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new HoldfastError("usage", "nothing was changed");
  } finally {
    terminal.close();
  }
}
