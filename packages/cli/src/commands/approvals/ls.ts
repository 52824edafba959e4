import { openApprovals, SESSION_FLAG } from "../../approval/open.ts";
import { approvalTable } from "../../approval/text.ts";
import type { Command } from "../../command.ts";
import { writeOut } from "../../console/write-out.ts";

export const command: Command = {
  name: "approvals ls",
  summary: "list open requests, the longest-waiting first",
  onlyReads: true,
  usage: "[--all] [--session NAME]",
  flags: { all: { summary: "include answered requests" }, session: SESSION_FLAG },
  examples: [["holdfast approvals ls --all", "list answered requests too"]],
  async run(context) {
    const { approvals } = await openApprovals(context, context.flags.has("all"));
    const text = approvals.length === 0 ? "No open requests." : approvalTable(approvals, Date.now()).join("\n");
    await writeOut(`${context.json ? JSON.stringify(approvals) : text}\n`);
    return 0;
  },
};
