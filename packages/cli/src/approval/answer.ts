import type { Approval } from "@holdfast/contract/approval/approval";
import type { Decision } from "@holdfast/contract/approval/enums";
import type { Context } from "../command.ts";
import { writeOut } from "../console/write-out.ts";
import { plain } from "../text/plain.ts";
import { unlessGone } from "./open.ts";
import { outcomeOf } from "./text.ts";

/** Answers each request on its own, and continues after a failure. Throws the first failure at the end. */
export async function answer(
  context: Context,
  ids: readonly string[],
  body: { decision: Decision; reason: string | undefined; always?: boolean },
): Promise<number> {
  const answered: Approval[] = [];
  let failed: unknown;
  for (const id of ids) {
    try {
      // A name may match another request by the time of the answer. The digest ties the answer to the request read here.
      const shown = await context.client.call("getApproval", { params: { id } }).catch(unlessGone);
      const asked = { params: { id: shown?.id ?? id }, body: { ...body, digest: shown?.digest ?? "" } };
      const approval = await context.client.call("answerApproval", asked);
      answered.push(approval);
      if (!context.json) process.stdout.write(`${outcomeOf(approval)}\n`);
    } catch (error) {
      if (ids.length > 1 && failed !== undefined) process.stderr.write(`${plain(id)}: ${plain((error as Error).message)}\n`);
      failed ??= error;
    }
  }
  if (context.json && (answered.length > 0 || failed === undefined)) await writeOut(`${JSON.stringify(answered)}\n`);
  if (failed !== undefined) throw failed;
  return 0;
}
