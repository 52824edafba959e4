/** Endpoints of the inbox. */
import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { flag, wholeNumber } from "../wire.ts";
import { Approval, DecisionSchema } from "./approval.ts";
import { ASKED_FOR } from "./enums.ts";

const text = z.string().check(z.maxLength(10_000, "a name or a reason has at most 10,000 characters"));

/** A request that an agent makes through a Holdfast tool. */
export const ApprovalRequest = z.object({
  /** The session that makes the request; a session omits it to mean itself. */
  session: z.optional(text),
  for: z.enum(ASKED_FOR),
  /** The intended action, or the question, for people. */
  text: z.string().check(z.minLength(1, "a request needs a text"), z.maxLength(10_000, "a request's text has at most 10,000 characters")),
  /** The tool, as the rules of config.toml name it. */
  tool: z.optional(text),
  /** The tool's arguments. */
  input: z.optional(z.unknown()),
});
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;

export const APPROVAL_ENDPOINTS = {
  listApprovals: {
    ...ROUTES.listApprovals,
    answeredWithout: ["daemon"],
    summary: "Open approvals, the longest-waiting first; with `all` also closed ones.",
    scope: "observer",
    reach: "own",
    query: z.object({ session: z.optional(text), all: flag }),
    reply: z.object({ cursor: z.string(), approvals: z.array(Approval) }),
    errors: ["session_not_found", "session_ambiguous"],
  },
  getApproval: {
    ...ROUTES.getApproval,
    summary:
      "One approval by its id, an id prefix, or the name of a session with one open approval. With `waitMs` the reply comes when it is closed, or after that time.",
    scope: "observer",
    reach: "own",
    query: z.object({ waitMs: z._default(wholeNumber, 0) }),
    reply: Approval,
    errors: ["approval_not_found", "approval_ambiguous"],
  },
  requestApproval: {
    ...ROUTES.requestApproval,
    summary:
      "Files a permission request or a question of a session's agent, made through a Holdfast tool. A rule of config.toml may answer it.",
    scope: "driver",
    reach: "own",
    takesText: true,
    verbatim: ["input"],
    body: ApprovalRequest,
    reply: Approval,
    errors: ["session_not_found", "session_ambiguous", "session_ended", "usage"],
  },
  withdrawApproval: {
    ...ROUTES.withdrawApproval,
    summary: "Withdraws a request that a tool made.",
    scope: "driver",
    reach: "own",
    reply: Approval,
    errors: ["approval_not_found", "approval_ambiguous", "approval_over", "approval_unanswerable"],
  },
  answerApproval: {
    ...ROUTES.answerApproval,
    summary:
      "Allows or denies a permission request, or answers a question. A session may do that for its descendants, once per request, and never for itself.",
    scope: "approver",
    reach: "children",
    body: z.object({
      decision: DecisionSchema,
      /** With `deny`, the reason for the agent; with `answer`, the answer to its question. */
      reason: z.optional(text),
      /** With `allow`: the agent does not ask for similar requests again, if it offers that. */
      always: z._default(z.boolean(), false),
      /** Digest of the approval as it was shown. If the request has changed since, the answer is refused with `approval_changed`. */
      digest: z.optional(text),
    }),
    reply: Approval,
    errors: ["approval_not_found", "approval_ambiguous", "approval_over", "approval_changed", "approval_unanswerable", "forbidden"],
  },
} as const satisfies Record<string, Endpoint>;
