import type { Approval } from "@holdfast/contract/approval/approval";
import type { AnyEvent } from "@holdfast/contract/events";
import { openApprovals, SESSION_FLAG, unlessGone } from "../../approval/open.ts";
import { outcomeOf } from "../../approval/text.ts";
import type { Command, Context } from "../../command.ts";
import { followEvents } from "../../connection/follow-events.ts";
import { writeOut } from "../../console/write-out.ts";

/** Events after which an approval is open. */
const COME = ["approval.requested", "approval.reopened"];

export const command: Command = {
  name: "approvals watch",
  summary: "print requests and answers as they happen",
  onlyReads: true,
  follows: () => true,
  usage: "[--session NAME]",
  description: "Prints the open requests, then new ones and their outcomes, one line each. Reconnects when the daemon dies or is replaced.",
  flags: { session: SESSION_FLAG },
  examples: [["holdfast approvals watch", "follow the requests of all sessions"]],
  async run(context) {
    const { cursor: after, approvals } = await openApprovals(context);
    for (const approval of approvals) await tell(context, approval);
    const query = { session: context.flags.text("session"), type: [...COME, "approval.answered", "approval.resolved"] };
    const onEvent = async ({ type, data }: AnyEvent) => {
      const id = String((data as { id?: unknown }).id);
      const approval = await context.client.call("getApproval", { params: { id } }).catch(unlessGone);
      // If the request is already resolved, another event follows.
      if (approval && (approval.status !== "open" || COME.includes(type))) await tell(context, approval);
    };
    await followEvents(context, { query, after, onEvent });
    return 0;
  },
};

function tell(context: Context, approval: Approval): Promise<void> {
  return writeOut(`${context.json ? JSON.stringify(approval) : outcomeOf(approval)}\n`);
}
