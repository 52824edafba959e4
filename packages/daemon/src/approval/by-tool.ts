/**
 * Requests made through Holdfast's own MCP tool. They wait in the inbox like all others. The caller polls for the answer, so neither the daemon's
 * death nor a time-out of the agent's MCP client loses it.
 */
import {
  type ApprovalRequest,
  type Decision,
  describeCall,
  type Evidence,
  HoldfastError,
  inOneLine,
  newSessionId,
  type SessionKind,
} from "@holdfast/contract";
import type { ApprovalRecord } from "../projection/approvals.ts";
import type { SessionRecord } from "../projection/session-queries.ts";
import type { Answer } from "./answer.ts";
import { attentionOf } from "./over.ts";
import { unanswerable } from "./refusals.ts";

/** The journal should not hold whole files. */
const LONGEST_INPUT = 200_000;

/** Longest text of a request: a question is shown in full. */
const LONGEST_TEXT = 100_000;

export function toolRequest(record: SessionRecord, { for: what, text, tool, input }: ApprovalRequest) {
  if (JSON.stringify(input ?? null).length > LONGEST_INPUT)
    throw new HoldfastError("usage", "the request's arguments have more than 200,000 characters", {
      hint: "describe the action in words",
    });
  const id = newSessionId();
  // Answering a question executes nothing, so it is shown as it was asked.
  const hasArguments = what === "approval" && (tool !== undefined || input !== undefined);
  return {
    id,
    run: record.run,
    for: what,
    tool: tool ?? null,
    input: input ?? null,
    text: hasArguments ? describeCall({ name: tool ?? "a tool", title: text, input }) : inOneLine(text, LONGEST_TEXT),
    ...(hasArguments ? { title: inOneLine(text, LONGEST_TEXT) } : {}),
    directory: record.cwd,
    channel: "tool" as const,
    expiresAt: null,
    otherwise: "it waits, or continues without an answer",
    reasons: true,
    ask: `tool:${id}`,
    dialog: null,
  };
}

/** Claims only attention. Other sources know whether the agent works meanwhile. */
export function waitingByTool(asked: Pick<ApprovalRecord, "for" | "text" | "requestedAt">, kind: SessionKind): Evidence {
  return {
    source: sourceOf(kind),
    at: asked.requestedAt,
    claim: { attention: attentionOf(asked) },
    what: "waits in the inbox",
    held: true,
  };
}

export function calmByTool(kind: SessionKind, { at, what }: { at: string; what: string }): Evidence {
  return { source: sourceOf(kind), at, claim: { attention: null }, what };
}

export function toolAnswers({ for: what }: Pick<ApprovalRecord, "for">): Decision[] {
  return what === "question" ? ["answer", "deny"] : ["allow", "deny"];
}

/** Throws if the answer does not fit the request. */
export function checkToolAnswer(approval: ApprovalRecord, { decision, reason }: Answer): void {
  if (!toolAnswers(approval).includes(decision)) throw unanswerable(approval, decision);
  if (decision === "answer" && !reason)
    throw new HoldfastError("usage", "an answer needs a text", { hint: "answer it: holdfast approvals answer ID TEXT" });
}

function sourceOf(kind: SessionKind): Evidence["source"] {
  return kind === "conversation" ? "protocol" : "hook";
}
