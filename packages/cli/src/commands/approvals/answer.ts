import { HoldfastError } from "@holdfast/contract/errors";
import { answer } from "../../approval/answer.ts";
import { onlyOne } from "../../approval/open.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "approvals answer",
  summary: "answer a question",
  usage: "[ID] TEXT",
  description: "TEXT is the text or the number of a choice, or an answer of your own where the agent accepts one.",
  arguments: "approvals",
  examples: [
    ["holdfast approvals answer fix-login Blue", "answer a question"],
    ["holdfast approvals answer fix-login 2", "pick the second choice of a dialog"],
  ],
  async run(context) {
    const [first, ...more] = context.args;
    if (first === undefined) throw new HoldfastError("usage", "expected [ID] TEXT", { hint: "see: holdfast approvals answer --help" });
    if (more.length > 0) return answer(context, [first], { decision: "answer", reason: more.join(" ") });
    return answer(context, [await onlyOne(context, "answer", first)], { decision: "answer", reason: first });
  },
};
