import { answer } from "../../approval/answer.ts";
import { onlyOne } from "../../approval/open.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "approvals deny",
  summary: "deny requests",
  usage: "[ID…] [--reason TEXT]",
  flags: { reason: { value: "TEXT", summary: "the reason, sent to the agent", complete: "nothing" } },
  arguments: "approvals",
  examples: [
    ["holdfast approvals deny k3f --reason 'use the staging database'", "deny a request; the agent reads the reason and continues"],
  ],
  async run(context) {
    const ids = context.args.length === 0 ? [await onlyOne(context, "deny")] : context.args;
    return answer(context, ids, { decision: "deny", reason: context.flags.text("reason") });
  },
};
