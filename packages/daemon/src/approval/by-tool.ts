/**
 * What an agent asks by a tool of ours, over MCP. It waits in the inbox like all else; whoever asked comes back for the answer, as often as it
 * takes, so that neither the daemon's death nor the time-out of the agent's own client loses it.
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
import type { Answer } from "./approvals.ts";
import { attentionOf } from "./over.ts";
import { unanswerable } from "./refusals.ts";

/** The journal is no place for whole files. */
const LONGEST_INPUT = 200_000;

/** As long as a request may be: a question is shown in whole. */
const LONGEST_TEXT = 100_000;

export function toolRequest(record: SessionRecord, { for: what, text, tool, input }: ApprovalRequest) {
  if (JSON.stringify(input ?? null).length > LONGEST_INPUT)
    throw new HoldfastError("usage", "the request's arguments have more than 200,000 characters", {
      hint: "describe the action in words",
    });
  const id = newSessionId();
  // To answer a question executes nothing: it is shown as it is asked.
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

/** Whether it works meanwhile, others say; only what it wants is known by this. */
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

/** Throws where the answer is none to what was asked. */
export function checkToolAnswer(approval: ApprovalRecord, { decision, reason }: Answer): void {
  if (!toolAnswers(approval).includes(decision)) throw unanswerable(approval, decision);
  if (decision === "answer" && !reason)
    throw new HoldfastError("usage", "an answer needs a text", { hint: "answer it: holdfast approvals answer ID TEXT" });
}

function sourceOf(kind: SessionKind): Evidence["source"] {
  return kind === "conversation" ? "protocol" : "hook";
}
