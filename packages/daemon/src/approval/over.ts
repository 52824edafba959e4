/** Whether what an agent asked for was decided elsewhere, by what it tells and shows since. Pure but for what it remembers in `shown`. */
import type { Attention, Evidence } from "@holdfast/contract";
import type { HookChannel } from "../agent/approvals.ts";
import type { Signal } from "../agent/hooks/hook-rules.ts";
import { fuse } from "../agent/status/fuse.ts";
import type { ApprovalRecord } from "../projection/approvals.ts";

/** An agent on a busy machine may take this long to draw its prompt; before that, one that is not to be seen is no sign. */
const DRAWN_MS = 30_000;

export interface Seen {
  signal: Signal | undefined;
  evidence: readonly Evidence[];
  channel: HookChannel;
  /** Ids of those whose prompt has been on the screen. */
  shown: Set<string>;
}

export function isOver(approval: ApprovalRecord, { signal, evidence, channel, shown }: Seen): boolean {
  if (signal && channel.used.includes(signal.event) && isSameTool(approval, signal)) return true;
  if (signal && (signal.claim.turn === "idle" || signal.prompt !== null)) return true;
  // Nothing of it shows, or its hook says so itself.
  if (!channel.promptsToo || channel.endedByAnswer) return false;
  const asks = ({ claim: { attention }, source, at }: Evidence) =>
    source !== "hook" && attention?.for === approval.for && at >= approval.requestedAt;
  if (evidence.some(asks)) shown.add(approval.id);
  const { attention } = fuse(evidence);
  const isCalm = attention?.value === null && attention.evidence.source !== "hook" && attention.evidence.at > approval.requestedAt;
  if (!attention || !isCalm) return false;
  return shown.has(approval.id) || Date.parse(attention.evidence.at) - Date.parse(approval.requestedAt) > DRAWN_MS;
}

/** Whether a signal proves that the agent has taken the answer: the tool has run, or the agent goes on with something else. */
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
