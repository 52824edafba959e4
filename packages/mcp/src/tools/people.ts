/** What an agent asks of people, and what a parent decides for its children. */
import type { Approval } from "@holdfast/contract/approval";
import { ApprovalRequest } from "@holdfast/contract/approval-endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import { DECISIONS } from "@holdfast/contract/status";
import * as z from "zod/mini";
import { meant } from "../self.ts";
import { type Call, patience, say, tool, USUAL_WAIT_MS } from "../tool.ts";
import { isPassing } from "../waiting.ts";

/** The daemon answers a wait of this length by itself; then it is asked again, and the caller hears that it still waits. */
const ONE_WAIT_MS = 10_000;
const AGAIN_MS = 200;

const waits = patience(USUAL_WAIT_MS, "how long to wait; then it stays in the inbox, and calling again with id goes on waiting");
const again = say(z.optional(z.string()), "of what you asked before: go on waiting for it");

export const PEOPLE_TOOLS = [
  tool({
    name: "request_approval",
    description:
      "Ask a person for leave before you do something that needs it. It waits in Holdfast's inbox, where any client can answer. The result says allowed or denied, and why; still open after wait_ms: do not do it yet, call again with id.",
    input: z.object({
      action: say(z.optional(z.string()), "what you want to do, in a sentence"),
      tool: say(ApprovalRequest.shape.tool, "what you would use for it"),
      input: say(z.optional(z.record(z.string(), z.unknown())), "its arguments, so that a person, or a rule, can decide"),
      id: again,
      wait_ms: waits,
    }),
    run: ({ action, tool: used, input, id, wait_ms: waitMs }, call) =>
      asked({ id, waitMs, request: action === undefined ? undefined : { for: "approval", text: action, tool: used, input } }, call),
  }),
  tool({
    name: "ask_human",
    description:
      "Ask a person a question and wait for the answer. It waits in Holdfast's inbox, where any client can answer. Still open after wait_ms: go on with something else, or call again with id.",
    input: z.object({
      question: say(z.optional(z.string()), "the question, in whole"),
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
      "Answer what a child of yours asks leave for, or its question: only for sessions that you started or that descend from them, each time once; with a token of the scope approver, for all. show_agent tells what it asks. What you would not do yourself, do not allow; leave what only a person can decide to people.",
    input: z.object({
      id: say(z.string(), "of the approval, or the name of the child that waits"),
      decision: say(z.enum(DECISIONS), "allow, deny, or answer a question"),
      reason: say(z.optional(z.string()), "why not; or the answer"),
      digest: say(z.optional(z.string()), "of what you were shown (show_agent tells it): refused where something else is asked for by now"),
    }),
    async run({ id, decision, reason, digest }, { client, self, signal }) {
      const { actor } = await self();
      // An agent that was started elsewhere has its user's rights, but not its user's judgement. A token of that scope is made for this very thing.
      if (actor.startsWith("user:"))
        throw new HoldfastError("forbidden", "an agent answers no approvals in its user's name", {
          hint: "a person answers: holdfast approvals; a session answers for its children; a program for all with a token of its own: holdfast token create --scope approver",
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

/** A call that is cancelled takes back what it asked; one whose time is over leaves it in the inbox. */
async function asked({ id, waitMs, request }: Asking, { client, self, signal, tell }: Call): Promise<object> {
  if (id === undefined && request === undefined) throw new HoldfastError("usage", "say what to ask, or the id of what was asked");
  const deadline = performance.now() + waitMs;
  const session = id === undefined ? meant(undefined, await self()) : undefined;
  let approval =
    id === undefined && request
      ? // Not broken off by the signal: what the daemon has written down must be known, so that it can be taken back.
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
