/** Detects from later signals and screens that a request was decided elsewhere. Pure, except that it adds to `shown`. */
import type { Attention, Evidence } from "@holdfast/contract";
import type { HookChannel } from "../agent/approvals.ts";
import type { Signal } from "../agent/hooks/hook-rules.ts";
import { fuse } from "../agent/status/fuse.ts";
import type { ApprovalRecord } from "../projection/approvals.ts";

/** Time an agent on a busy machine may need to draw its prompt. Until then a missing prompt means nothing. */
const DRAWN_MS = 30_000;

export interface Seen {
  signal: Signal | undefined;
  evidence: readonly Evidence[];
  channel: HookChannel;
  /** Ids of approvals whose prompt has been on the screen. */
  shown: Set<string>;
}

export function isOver(approval: ApprovalRecord, { signal, evidence, channel, shown }: Seen): boolean {
  if (signal && channel.used.includes(signal.event) && isSameTool(approval, signal)) return true;
  if (signal && (signal.claim.turn === "idle" || signal.prompt !== null)) return true;
  // Either the screen shows no prompt, or the end of the hook is the sign.
  if (!channel.promptsToo || channel.endedByAnswer) return false;
  const asks = ({ claim: { attention }, source, at }: Evidence) =>
    source !== "hook" && attention?.for === approval.for && at >= approval.requestedAt;
  if (evidence.some(asks)) shown.add(approval.id);
  const { attention } = fuse(evidence);
  const isCalm = attention?.value === null && attention.evidence.source !== "hook" && attention.evidence.at > approval.requestedAt;
  if (!attention || !isCalm) return false;
  return shown.has(approval.id) || Date.parse(attention.evidence.at) - Date.parse(approval.requestedAt) > DRAWN_MS;
}

/** True if a signal proves that the agent took the answer: the tool ran, or the agent continued with something else. */
export function isTaken(approval: ApprovalRecord, signal: Signal, { used }: HookChannel): boolean {
  if (used.includes(signal.event)) return isSameTool(approval, signal);
  return signal.claim.attention === null;
}

function isSameTool({ tool, input }: ApprovalRecord, signal: Signal): boolean {
  return signal.tool !== null && signal.tool.name === tool && JSON.stringify(signal.tool.input) === JSON.stringify(input);
}

export function attentionOf({ for: what, text }: Pick<ApprovalRecord, "for" | "text">): Attention {
  return { for: what, text, until: null };
}
