/**
 * The reason of a denial as a message, for an agent whose protocol cannot carry it. It is queued in the transaction of the answer, so that it is
 * neither lost nor repeated, and starts a turn once the current one has ended.
 */
import type { Entry } from "@holdfast/contract";
import type { Draft } from "../journal/journal.ts";
import { derivedId } from "../message/derived-id.ts";
import type { ApprovalRecord } from "../projection/approvals.ts";
import type { SessionRecord } from "../projection/session-queries.ts";

type Settled = Extract<Entry, { type: "approval_answered" }>;

export function reasonMessage(record: SessionRecord, approval: ApprovalRecord, entry: Settled): { id: string; draft: Draft } | undefined {
  const { answeredBy: actor, title, text } = approval;
  const reason = entry.untold ?? unheardReason(approval, entry);
  if (reason === null || actor === null) return undefined;
  // A rule denies again and again. Its reason starts one turn per conversation, so that an agent that repeats itself comes to an end.
  const isRule = actor.startsWith("rule:");
  const id = derivedId(["denial", ...(isRule ? [record.id, record.conversation ?? "", actor, reason] : [approval.id])]);
  const words = `[Holdfast: your request ${JSON.stringify(title ?? text)} was denied. Reason: ${reason}]`;
  return { id, draft: { type: "message.queued", actor, session: record.id, data: { id, text: words, steer: false } } };
}

/** The reason of a denial that the keeper did not deliver because the run or the turn ended first. */
function unheardReason({ status, reason }: ApprovalRecord, { option, by }: Settled): string | null {
  return status === "denied" && option === null && by === null ? reason : null;
}
