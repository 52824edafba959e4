/** Approval requests as they are journaled, and the events that end them. */
import { createHash } from "node:crypto";
import {
  type Approval,
  type AskedFor,
  type Attention,
  type Decision,
  describeAsk,
  describeTool,
  type Evidence,
  type FileChange,
  inOneLine,
  newSessionId,
  type RESOLVED,
  type Wait,
} from "@holdfast/contract";
import { DAEMON } from "../access/principal.ts";
import type { ApprovalChannels, HookChannel } from "../agent/approvals.ts";
import type { Dialog } from "../agent/dialog.ts";
import type { Signal } from "../agent/hooks/hook-rules.ts";
import { choicesIn } from "../agent/start-dialog.ts";
import type { Draft } from "../journal/journal.ts";
import { type ApprovalRecord, ON_SCREEN } from "../projection/approvals.ts";
import type { SessionRecord } from "../projection/session-queries.ts";
import type { Answer } from "./answer.ts";
import { toolAnswers } from "./by-tool.ts";
import { attentionOf } from "./over.ts";

/**
 * Nobody reads more than this, and the journal should not hold whole files. A longer request that no rule answers is answered on the agent's
 * screen; over a protocol, which has no screen, it can only be denied.
 */
const LONGEST_INPUT = 200_000;

/** Limit for the title that an agent gives its request. */
const LONGEST_TITLE = 10_000;

export type How = (typeof RESOLVED)[number];

export function requestOf({ record, ask, signal, channel }: { record: SessionRecord; ask: string; signal: Signal; channel: HookChannel }) {
  const { tool, claim, at, directory } = signal;
  const bytes = JSON.stringify(tool?.input ?? null).length;
  const isLong = bytes > LONGEST_INPUT;
  const asks = claim.attention?.for === "question";
  const told = tool ? describeTool(tool, { asks }) : (claim.attention?.text ?? signal.event);
  return {
    id: newSessionId(),
    run: record.run,
    for: askedFor(claim.attention),
    tool: tool?.name ?? null,
    input: isLong ? null : (tool?.input ?? null),
    text: isLong ? `${told} (arguments of ${Math.round(bytes / 1024)} KB, too long to be shown)` : told,
    directory: directory ?? record.cwd,
    channel: "hook" as const,
    expiresAt: new Date(Date.parse(at) + channel.timeoutS * 1000).toISOString(),
    otherwise: channel.otherwise,
    reasons: true,
    ask,
    dialog: null,
  };
}

/** A request that is known only from the agent's screen. */
export function shownRequest(
  record: SessionRecord,
  { attention, dialog }: { attention: Attention; dialog: Pick<Dialog, "text" | "about"> | undefined },
) {
  return {
    id: newSessionId(),
    run: record.run,
    for: askedFor(attention),
    tool: null,
    input: null,
    text: dialog?.about ?? inOneLine(attention.text ?? "it asks on its screen"),
    directory: record.cwd,
    ...ON_SCREEN,
    dialog: dialog?.text ?? null,
  };
}

/** A permission request in the words of an agent that speaks a protocol. */
export interface ProtocolAsk {
  ask: string;
  at: string;
  name?: string | undefined;
  title: string;
  kind: string;
  input: unknown;
  changes?: FileChange[] | undefined;
}

export function protocolRequest(record: SessionRecord, { ask, name, title, kind, input, changes = [] }: ProtocolAsk) {
  const bytes = JSON.stringify([input ?? null, changes]).length;
  const isLong = bytes > LONGEST_INPUT;
  // The kind `other` says nothing, so the tool's name is better where there is one.
  const tool = kind === "other" ? (name ?? kind) : kind;
  const text = describeAsk({ kind, name, title, input, changes });
  return {
    id: newSessionId(),
    run: record.run,
    for: "approval" as const,
    tool,
    input: isLong ? null : (input ?? null),
    text: isLong ? `${text} (arguments of ${Math.round(bytes / 1024)} KB, too long to be shown)` : text,
    title: inOneLine(title, LONGEST_TITLE),
    ...(isLong || changes.length === 0 ? {} : { changes }),
    ...(isLong ? { unshown: true } : {}),
    directory: record.cwd,
    channel: "protocol" as const,
    expiresAt: null,
    otherwise: "it waits",
    reasons: true,
    ask,
    dialog: null,
  };
}

export function waitingByProtocol(asked: Pick<ApprovalRecord, "for" | "text" | "requestedAt">): Evidence {
  const claim = { turn: "working" as const, attention: attentionOf(asked) };
  return { source: "protocol", at: asked.requestedAt, claim, what: "waits in the inbox" };
}

export function waiting(asked: Pick<ApprovalRecord, "for" | "text" | "requestedAt">, channel: HookChannel): Evidence {
  return {
    source: "hook",
    at: asked.requestedAt,
    claim: { turn: "working", attention: attentionOf(asked) },
    what: "waits in the inbox",
    // While the hook blocks the agent, its spinner keeps turning.
    ...(channel.promptsToo ? {} : { held: true }),
  };
}

export function answered({ id, run, session, text }: ApprovalRecord, { decision, reason, always, actor }: Answer): Draft {
  const data = { id, run, decision, reason: reason ?? null, text, ...(always ? { always } : {}) };
  return { type: "approval.answered", actor, session, data };
}

export function answering({ id, run, session, text }: ApprovalRecord, { decision, actor }: Answer): Draft {
  return { type: "approval.answering", actor, session, data: { id, run, decision, text } };
}

export function resolved({ id, run, session }: ApprovalRecord, how: How): Draft {
  return { type: "approval.resolved", actor: DAEMON, session, data: { id, run, how } };
}

export function reopened({ id, run, session, text }: ApprovalRecord, dialog: string | null): Draft {
  return { type: "approval.reopened", actor: DAEMON, session, data: { id, run, text, dialog } };
}

export function isDue({ expiresAt }: ApprovalRecord): boolean {
  return expiresAt !== null && Date.now() >= Date.parse(expiresAt);
}

export function shown({ ask, dialog, always, ...approval }: ApprovalRecord, channels: ApprovalChannels | undefined): Approval {
  const answers = approval.status === "open" ? answersOf({ ...approval, dialog }, channels) : [];
  return {
    ...approval,
    ...(dialog === null ? {} : { input: { ...objectOf(approval.input), screen: dialog } }),
    ...(approval.channel === "protocol" && ask !== null ? { ask } : {}),
    digest: digestOf({ ...approval, dialog }),
    answers,
  };
}

/** The input that a hook reported, for a request that the screen shows now. */
function objectOf(input: unknown): object {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
}

/** Covers everything that must have been seen before an answer. */
export function digestOf(approval: Pick<ApprovalRecord, "id" | "tool" | "input" | "text" | "changes" | "dialog" | "directory">): string {
  const { id, tool, input, text, changes = [], dialog, directory } = approval;
  return createHash("sha256")
    .update(JSON.stringify([id, tool, input, text, changes, dialog, directory]))
    .digest("hex");
}

function answersOf(
  { for: what, channel, dialog, unshown }: Pick<ApprovalRecord, "for" | "channel" | "dialog" | "unshown">,
  { hook, screen, dialogs = [] }: ApprovalChannels = {},
): Decision[] {
  if (isStart(what))
    return dialog === null
      ? []
      : startAnswers(
          choicesIn(
            dialogs.filter((each) => each.for === what),
            dialog,
          ),
        );
  if (channel === "tool") return toolAnswers({ for: what });
  if (channel === "protocol") return unshown ? ["deny"] : ["allow", "deny"];
  if (channel === "hook") return what === "question" ? (hook?.answer ? ["answer", "deny"] : []) : ["allow", "deny"];
  return screen?.keys && dialog !== null && !screen.hidden?.test(dialog) ? ["allow", "deny"] : [];
}

/** Includes `answer` if the dialog has choices beyond allow and deny. */
function startAnswers(shown: ReturnType<typeof choicesIn>): Decision[] {
  if (!shown || shown.choices.length === 0) return [];
  if (shown.dialog.offers) return ["answer"];
  return ["allow", "deny", ...(shown.choices.length > 2 ? (["answer"] as const) : [])];
}

function askedFor(attention: Attention | null | undefined): AskedFor {
  return attention === null || attention === undefined || attention.for === "rate_limit" ? "approval" : attention.for;
}

/** True for dialogs that an agent shows before it works. */
export function isStart(what: Wait | AskedFor | undefined): what is "trust" | "login" {
  return what === "trust" || what === "login";
}
