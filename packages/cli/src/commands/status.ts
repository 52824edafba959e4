import type { DaemonStatus } from "@holdfast/contract/daemon/endpoints";
import { counted } from "@holdfast/platform/units";
import type { Command } from "../command.ts";
import { color } from "../text/color.ts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";
import { listenLine, shareLine } from "./up.ts";

export const command: Command = {
  name: "status",
  summary: "show the daemon's version, home and counts",
  section: "Administration",
  onlyPrints: true,
  usage: "",
  withArgument: (word) => `show one session: holdfast show ${word}`,
  examples: [
    ["holdfast status", "show the daemon; start it if needed"],
    ["holdfast status --json", "for a script"],
  ],
  async run(context) {
    const status = await context.client.call("status", {});
    if (context.json) process.stdout.write(`${JSON.stringify(status)}\n`);
    else {
      const rows = [
        ["daemon", `version ${status.version}, pid ${status.pid}, up ${formatDuration(status.uptimeMs)}`],
        ["sessions", sessionsText(status.sessions)],
        ["home", status.home],
        ["node", `${status.nodeVersion} (${status.node})`],
        [
          "tmux",
          status.tmux
            ? `${status.tmux.version} (${status.tmux.path}), ${status.tmux.pid === null ? "no server yet" : `server pid ${status.tmux.pid}`}`
            : "not found",
        ],
        ["address", status.listen === null ? "only its Unix socket" : listenLine(status.listen)],
        ...(status.share ? [["shared", shareLine(status.share)]] : []),
        ...(status.keepAwake ? [["awake", awakeText(status.keepAwake)]] : []),
        ["you", `${status.actor}, ${status.scope}`],
        ["journal", `epoch ${status.epoch}, ${counted(status.seq, "event")}`],
        ["backup", backupOf(status.backup)],
        ...(status.restored ? [["restored", restoredText(status.restored)]] : []),
      ];
      process.stdout.write(`${rows.map(([name = "", value = ""]) => `${color("dim", name.padEnd(9))} ${plain(value)}`).join("\n")}\n`);
    }
    return 0;
  },
};

function sessionsText({ running, ended, lost }: DaemonStatus["sessions"]): string {
  return `${running} running, ${ended} ended${lost === 0 ? "" : `, of which ${lost} lost; restore them: holdfast restore`}`;
}

function awakeText({ active, by, trouble }: NonNullable<DaemonStatus["keepAwake"]>): string {
  if (active) return `${by} keeps the machine awake while something is working`;
  return trouble === null ? "nothing is working; the machine may sleep" : `the machine is not kept awake: ${trouble}`;
}

function backupOf(backup: DaemonStatus["backup"]): string {
  return backup ? `${backup.name}, ${formatDuration(Math.max(0, Date.now() - Date.parse(backup.at)))} ago` : "none yet";
}

function restoredText(report: NonNullable<DaemonStatus["restored"]>): string {
  const { seq, lost, sessions } = report;
  const loss =
    lost.until === null
      ? `events after ${seq} may be lost`
      : lost.until > seq
        ? lost.until === seq + 1
          ? `event ${lost.until} is lost`
          : `events ${seq + 1} to ${lost.until} are lost`
        : "no events are known to be lost";
  const counts = `${counted(sessions.rebuilt.length, "session")} rebuilt, ${sessions.removed.length} removed, ${sessions.unreadable.length} unreadable`;
  return `${report.at} because ${report.what}; ${loss}; ${counts}`;
}
