import type { DiskUse } from "@holdfast/contract/daemon/upkeep-endpoints";
import type { Command } from "../command.ts";
import { formatBytes } from "../text/bytes.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "du",
  summary: "show disk usage",
  onlyReads: true,
  section: "Administration",
  onlyPrints: true,
  usage: "",
  description:
    "Lists each session with its recordings, the largest first, then everything else that Holdfast stores. To remove old sessions: holdfast prune.",
  examples: [
    ["holdfast du", "list the largest first"],
    ["holdfast du --json", "print bytes, for a script"],
  ],
  async run(context) {
    const use = await context.client.call("diskUse", {});
    process.stdout.write(`${context.json ? JSON.stringify(use) : render(use)}\n`);
    return 0;
  },
};

function render(use: DiskUse): string {
  const rows = [
    ["SESSION", "STATUS", "RECORDINGS", "TRANSCRIPTS", "TOTAL"],
    ...use.sessions.map((session) => [
      session.name === null ? `${session.id} (no record)` : plain(session.name),
      session.status ?? "–",
      formatBytes(session.recordingBytes),
      formatBytes(session.transcriptBytes),
      formatBytes(session.totalBytes),
    ]),
  ];
  const rest: [string, number][] = [
    ["journal", use.journalBytes],
    ["backups", use.backupBytes],
    ["damaged", use.damagedBytes],
    ["workspaces", use.workspaceBytes],
    ["other", use.otherBytes],
    ["total", use.totalBytes],
  ];
  const wide = Math.max(...rows.map(([name = ""]) => name.length), "workspaces".length);
  const widths = [wide, 8, 11, 12, 9];
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join("  ");
  const total = rest
    .filter(([name, bytes]) => bytes > 0 || name === "total")
    .map(([name, bytes]) => line([name, "", "", "", formatBytes(bytes)]));
  return [...(use.sessions.length > 0 ? [...rows.map(line), ""] : []), ...total].join("\n");
}
