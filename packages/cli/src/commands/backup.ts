import type { Backup } from "@holdfast/contract/backup";
import type { DaemonStatus } from "@holdfast/contract/endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import { counted } from "@holdfast/platform/units";
import type { Command, Context } from "../command.ts";
import { formatBytes } from "../text/bytes.ts";
import { color } from "../text/color.ts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "backup",
  summary: "list, create and restore backups of the journal",
  onlyReads: true,
  section: "Administration",
  usage: "[ls | create | restore NAME [--yes]]",
  description:
    "Holdfast makes a backup every 10 minutes if something happened, and thins them to one per hour, then one per day, for a week. Your last five manual backups are kept while all backups fit in 4 GB. A damaged journal is restored automatically. restore goes back on request: the records of that time return, newer sessions are rebuilt from their files, and running sessions are not touched.",
  arguments: "nothing",
  flags: { yes: { summary: "with restore: do not ask for confirmation", short: "y" } },
  examples: [
    ["holdfast backup", "list the backups, newest first"],
    ["holdfast backup create", "make a backup now"],
    ["holdfast backup restore 20261115T075133123Z-4711-timer", "restore a backup, after confirmation"],
  ],
  async run(context) {
    const [verb = "ls", name, ...more] = context.args;
    if (verb !== "restore" && context.flags.has("yes"))
      throw new HoldfastError("usage", "--yes is only for backup restore", { hint: "see: holdfast backup --help" });
    if (verb === "ls" && name === undefined) return list(context);
    if (verb === "create" && name === undefined) return create(context);
    if (verb === "restore" && name !== undefined && more.length === 0) return restore(context, name);
    throw new HoldfastError("usage", "expected ls, create or restore NAME", { hint: "see: holdfast backup --help" });
  },
};

async function list(context: Context): Promise<number> {
  const { backups } = await context.client.call("listBackups", {});
  if (context.json) process.stdout.write(`${JSON.stringify(backups)}\n`);
  else process.stdout.write(backups.length === 0 ? "No backups yet. Make one: holdfast backup create\n" : `${table(backups)}\n`);
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
  timer: "automatic",
  asked: "manual",
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
    throw new HoldfastError("backup_unusable", `the backup ${name} could not be restored; the journal is unchanged`, {
      hint: "choose another: holdfast backup ls",
    });
  }
  if (context.json) process.stdout.write(`${JSON.stringify({ ...status.restored, before: before.name })}\n`);
  else process.stdout.write(`${restoredText(status)}Undo: holdfast backup restore ${before.name}\n`);
  return 0;
}

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
