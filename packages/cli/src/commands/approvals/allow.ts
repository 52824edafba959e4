import { answer } from "../../approval/answer.ts";
import { onlyOne } from "../../approval/open.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "approvals allow",
  summary: "allow requests",
  usage: "[ID…] [--always]",
  flags: { always: { summary: "also allow similar requests in future; only in conversations whose agent offers it" } },
  arguments: "approvals",
  examples: [
    ["holdfast approvals allow", "allow the only open request, once"],
    ["holdfast approvals allow fix-login", "allow the request of one session, once"],
  ],
  async run(context) {
    const ids = context.args.length === 0 ? [await onlyOne(context, "allow")] : context.args;
    return answer(context, ids, { decision: "allow", reason: undefined, always: context.flags.has("always") });
  },
};
