import type { Backup } from "@holdfast/contract/daemon/backup";
import { counted } from "@holdfast/platform/units";
import type { Command } from "../../command.ts";
import { formatBytes } from "../../text/bytes.ts";
import { aligned } from "../../text/columns.ts";
import { formatDuration } from "../../text/duration.ts";

export const command: Command = {
  name: "backup ls",
  summary: "list the backups",
  onlyReads: true,
  usage: "",
  examples: [["holdfast backup ls", "list the backups, newest first"]],
  async run({ client, json }) {
    const { backups } = await client.call("listBackups", {});
    if (json) process.stdout.write(`${JSON.stringify(backups)}\n`);
    else process.stdout.write(backups.length === 0 ? "No backups yet. Make one: holdfast backup create\n" : `${table(backups)}\n`);
    return 0;
  },
};

function table(backups: readonly Backup[]): string {
  const rows = backups.map(({ name, at, why, seq, bytes }) => [
    name,
    `${formatDuration(Math.max(0, Date.now() - Date.parse(at)))} ago`,
    REASONS[why],
    counted(seq, "event"),
    formatBytes(bytes),
  ]);
  return aligned(rows).join("\n");
}

const REASONS: Readonly<Record<Backup["why"], string>> = {
  timer: "automatic",
  asked: "manual",
  migration: "before a new schema",
  restore: "before a restore",
};
