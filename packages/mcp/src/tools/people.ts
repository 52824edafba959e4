/** Requests of an agent to people, and a parent's answers to its children. */
import type { Approval } from "@holdfast/contract/approval/approval";
import { ApprovalRequest } from "@holdfast/contract/approval/endpoints";
import { DECISIONS } from "@holdfast/contract/approval/enums";
import { HoldfastError } from "@holdfast/contract/errors";
import * as z from "zod/mini";
import { meant } from "../self.ts";
import { type Call, patience, say, tool, USUAL_WAIT_MS } from "../tool.ts";
import { isPassing } from "../waiting.ts";

/** Longest wait of a single request. The client then repeats it and reports that it still waits. */
const ONE_WAIT_MS = 10_000;
const AGAIN_MS = 200;

const waits = patience(USUAL_WAIT_MS, "how long to wait; the request then stays in the inbox, and a call with its id continues waiting");
const again = say(z.optional(z.string()), "id of an earlier request: continue waiting for it");

export const PEOPLE_TOOLS = [
  tool({
    name: "request_approval",
    description:
      "Ask a person for permission before you do something that needs it. The request waits in Holdfast's inbox, where any client can answer it. The result says allowed or denied, and why. If it is still open after wait_ms, do not act yet: call again with its id.",
    input: z.object({
      action: say(z.optional(z.string()), "the action you want to take, in one sentence"),
      tool: say(ApprovalRequest.shape.tool, "the tool you would use"),
      input: say(z.optional(z.record(z.string(), z.unknown())), "the tool's arguments, so that a person or a rule can decide"),
      id: again,
      wait_ms: waits,
    }),
    run: ({ action, tool: used, input, id, wait_ms: waitMs }, call) =>
      asked({ id, waitMs, request: action === undefined ? undefined : { for: "approval", text: action, tool: used, input } }, call),
  }),
  tool({
    name: "ask_human",
    description:
      "Ask a person a question and wait for the answer. The question waits in Holdfast's inbox, where any client can answer it. If it is still open after wait_ms, work on something else, or call again with its id.",
    input: z.object({
      question: say(z.optional(z.string()), "the whole question"),
      choices: say(z.optional(z.array(z.string())), "answers to choose from"),
      id: again,
      wait_ms: waits,
    }),
    run: ({ question, choices, id, wait_ms: waitMs }, call) =>
      asked(
        { id, waitMs, request: question === undefined ? undefined : { for: "question", text: question, input: choices && { choices } } },
        call,
      ),
  }),
  tool({
    name: "answer_approval",
    description:
      "Answer a permission request or a question of a child, one request at a time. You can answer for sessions that you started and their descendants; with an approver token, for all sessions. Read the request first with show_agent. Allow only actions that you would take yourself. Leave decisions that need a person to people.",
    input: z.object({
      id: say(z.string(), "id of the approval, or name of the child that waits"),
      decision: say(z.enum(DECISIONS), "allow, deny, or answer a question"),
      reason: say(z.optional(z.string()), "the reason for a denial, or the answer"),
      digest: say(
        z.optional(z.string()),
        "hash of the request you were shown (see show_agent); the call is refused if the request has changed",
      ),
    }),
    async run({ id, decision, reason, digest }, { client, self, signal }) {
      const { actor } = await self();
      // An agent that was started outside Holdfast has its user's rights but must not decide for its user. A token with the approver scope is made
      // for that.
      if (actor.startsWith("user:"))
        throw new HoldfastError("forbidden", "an agent cannot answer approvals for its user", {
          hint: "a person answers with: holdfast approvals; a session answers for its children; a program needs its own token: holdfast token create --scope approver",
        });
      const body = { decision, ...(reason === undefined ? {} : { reason }), ...(digest === undefined ? {} : { digest }) };
      return shown(await client.call("answerApproval", { params: { id }, body }, signal));
    },
  }),
];

interface Asking {
  id: string | undefined;
  waitMs: number;
  request: Omit<ApprovalRequest, "session"> | undefined;
}

/** A cancelled call withdraws its request; after a timeout the request stays in the inbox. */
async function asked({ id, waitMs, request }: Asking, { client, self, signal, tell }: Call): Promise<object> {
  if (id === undefined && request === undefined) throw new HoldfastError("usage", "pass a question, or the id of an earlier request");
  const deadline = performance.now() + waitMs;
  const session = id === undefined ? meant(undefined, await self()) : undefined;
  let approval =
    id === undefined && request
      ? // Without the signal: a request that the daemon has recorded must be known, so that it can be withdrawn.
        await client.call("requestApproval", { body: { ...request, session } })
      : await client.call("getApproval", { params: { id: id ?? "" } }, signal);
  const { id: own } = approval;
  const takeBack = () => void client.call("withdrawApproval", { params: { id: own } }).catch(() => {});
  signal.addEventListener("abort", takeBack, { once: true });
  if (signal.aborted) takeBack();
  try {
    while (approval.status === "open" && performance.now() < deadline && !signal.aborted) {
      tell(`waits in the inbox: holdfast approvals show ${own}`);
      const left = Math.min(ONE_WAIT_MS, Math.ceil(deadline - performance.now()));
      approval = await client
        .call("getApproval", { params: { id: own }, query: { waitMs: left } }, signal)
        .catch(async (error: unknown) => {
          if (signal.aborted || !isPassing(error)) throw error;
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
          return approval;
        });
    }
  } finally {
    signal.removeEventListener("abort", takeBack);
  }
  return shown(approval);
}

function shown({ id, name, status, text, answeredBy, reason }: Approval): object {
  return { id, session: name, status, text, answeredBy, ...(status === "answered" ? { answer: reason } : { reason }) };
}
