import type { Backup } from "@holdfast/contract/backup";
import type { DaemonStatus } from "@holdfast/contract/endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import { counted } from "@holdfast/platform/units";
import { color } from "../color.ts";
import type { Command, Context } from "../command.ts";
import { formatDuration } from "../duration.ts";
import { plain } from "../plain.ts";
import { formatBytes } from "../table.ts";

export const command: Command = {
  name: "backup",
  summary: "copies of the journal: list, take or restore one",
  onlyReads: true,
  usage: "[ls | create | restore NAME [--yes]]",
  description:
    "One is taken by itself every 10 minutes when something happened; with time they are thinned to one an hour, then one a day, for a week. The\nlast five that you asked for are kept as long as all together take no more than 4 GB. A damaged journal is restored by itself; `restore` goes back on request:\nrecords of that time return, sessions begun since are rebuilt from their files, and nothing that runs is touched.",
  arguments: "nothing",
  flags: { yes: { summary: "with restore: do not ask", short: "y" } },
  examples: [
    ["holdfast backup", "what there is, newest first"],
    ["holdfast backup create", "take one now"],
    ["holdfast backup restore 20261115T075133123Z-4711-timer", "go back to it; asks first"],
  ],
  async run(context) {
    const [verb = "ls", name, ...more] = context.args;
    if (verb === "ls" && name === undefined) return list(context);
    if (verb === "create" && name === undefined) return create(context);
    if (verb === "restore" && name !== undefined && more.length === 0) return restore(context, name);
    throw new HoldfastError("usage", "say ls, create or restore NAME", { hint: "see: holdfast backup --help" });
  },
};

async function list(context: Context): Promise<number> {
  const { backups } = await context.client.call("listBackups", {});
  if (context.json) process.stdout.write(`${JSON.stringify(backups)}\n`);
  else process.stdout.write(backups.length === 0 ? "No backups yet. Take one: holdfast backup create\n" : `${table(backups)}\n`);
  return 0;
}

function table(backups: readonly Backup[]): string {
  const rows = backups.map(({ name, at, why, seq, bytes }) => [
    name,
    `${formatDuration(Math.max(0, Date.now() - Date.parse(at)))} ago`,
    REASONS[why],
    counted(seq, "event"),
    formatBytes(bytes),
  ]);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const REASONS: Readonly<Record<Backup["why"], string>> = {
  timer: "by itself",
  asked: "asked for",
  migration: "before a new schema",
  restore: "before a restore",
};

async function create(context: Context): Promise<number> {
  const backup = await context.client.call("createBackup", { body: {} });
  process.stdout.write(context.json ? `${JSON.stringify(backup)}\n` : `${backup.name}\n`);
  return 0;
}

async function restore(context: Context, name: string): Promise<number> {
  const { backups } = await context.client.call("listBackups", {});
  const backup = backups.find((each) => each.name === name);
  if (backup && !context.flags.has("yes")) await confirm(context, backup);
  const { epoch } = await context.client.call("status", {});
  const { before, pid } = await context.client.call("restoreBackup", { params: { name }, body: {} });
  const status = await restored(context, pid);
  if (status.epoch === epoch) {
    throw new HoldfastError("backup_unusable", `the backup ${name} could not be restored; the journal is as it was`, {
      hint: "choose another: holdfast backup ls",
    });
  }
  if (context.json) process.stdout.write(`${JSON.stringify({ ...status.restored, before: before.name })}\n`);
  else process.stdout.write(`${restoredText(status)}The way back: holdfast backup restore ${before.name}\n`);
  return 0;
}

/** Our own daemon's successor answers as soon as it has restored. */
async function restored(context: Context, pid: number): Promise<DaemonStatus> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const status = await context.client.call("status", {});
    if (status.pid !== pid) return status;
    if (performance.now() > deadline) throw new HoldfastError("timeout", `the daemon (pid ${pid}) did not end to restore the backup`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function restoredText({ restored, epoch, seq }: DaemonStatus): string {
  if (!restored) return `The journal is in epoch ${epoch}, ${counted(seq, "event")}.\n`;
  const { rebuilt, removed } = restored.sessions;
  const lines = [
    `Restored ${restored.backup?.name ?? "nothing"}: ${counted(restored.seq, "event")}, epoch ${epoch}.`,
    ...(rebuilt.length > 0 ? [`Rebuilt from their files: ${rebuilt.map(({ name }) => plain(name)).join(", ")}`] : []),
    ...(removed.length > 0 ? [`Removed since, and so they stay: ${removed.map(({ name }) => plain(name)).join(", ")}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

async function confirm(context: Context, backup: Backup): Promise<void> {
  const question = `Go back to ${backup.name} (${counted(backup.seq, "event")})? What was journaled since is set aside; sessions go on.`;
  if (!process.stdin.isTTY || !process.stdout.isTTY || context.json) {
    throw new HoldfastError("usage", "restore replaces the journal and wants to be sure", { hint: "add --yes" });
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
