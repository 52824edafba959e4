import { HoldfastError } from "@holdfast/contract/errors";
import { onlyOne } from "../../approval/open.ts";
import { describeApproval } from "../../approval/text.ts";
import type { Command } from "../../command.ts";
import { writeOut } from "../../console/write-out.ts";

export const command: Command = {
  name: "approvals show",
  summary: "show one request in full",
  onlyReads: true,
  usage: "[ID]",
  arguments: "approvals",
  examples: [["holdfast approvals show fix-login", "show the request of one session"]],
  async run(context) {
    const [first, ...more] = context.args;
    if (more.length > 0) throw new HoldfastError("usage", "expected one request", { hint: "usage: holdfast approvals show [ID]" });
    const id = first ?? (await onlyOne(context, "show"));
    const approval = await context.client.call("getApproval", { params: { id } });
    await writeOut(`${context.json ? JSON.stringify(approval) : describeApproval(approval, Date.now()).join("\n")}\n`);
    return 0;
  },
};
