/** The inbox of approvals, and how a program answers them. */
import type { Approval } from "@holdfast/contract/approval";
import type { HoldfastClient } from "./client.ts";
import { followEvents, isCode } from "./follow.ts";

/** An approval and its answers. The first answer counts: a later one fails with `approval_over`. */
export type WaitingApproval = Approval & {
  /** `always`: the agent is not to ask for the like again, where it offers that. */
  allow(options?: { always?: boolean }): Promise<Approval>;
  /** The reason goes along where the agent can be told one: `reasons`. */
  deny(reason?: string): Promise<Approval>;
  /** Answers a question. */
  answer(text: string): Promise<Approval>;
};

/** Permission requests and questions of agents. */
export class Approvals {
  readonly #client: HoldfastClient;

  /** `holdfast.approvals` is one. */
  constructor(client: HoldfastClient) {
    this.#client = client;
  }

  /** Open approvals, longest waiting first; of one session, or with `all` including closed ones. */
  async list(options: { session?: string; all?: boolean; signal?: AbortSignal } = {}): Promise<WaitingApproval[]> {
    const { signal, ...query } = options;
    const { approvals } = await this.#client.call("listApprovals", { query }, signal);
    return approvals.map((approval) => approvalOf(this.#client, approval));
  }

  /** By its id, the beginning of it, or the name of a session that waits for one only. */
  async get(id: string, signal?: AbortSignal): Promise<WaitingApproval> {
    return approvalOf(this.#client, await this.#client.call("getApproval", { params: { id } }, signal));
  }

  /** Open approvals, then new ones as they arrive; each once. */
  async *watch(options: { session?: string; signal?: AbortSignal } = {}): AsyncGenerator<WaitingApproval> {
    const { session, signal } = options;
    const { approvals, cursor } = await this.#client.call("listApprovals", { query: { session } }, signal);
    for (const approval of approvals) yield approvalOf(this.#client, approval);
    const asked = { after: cursor, types: ["approval.requested"], ...(session ? { session } : {}), ...(signal ? { signal } : {}) };
    for await (const event of followEvents(this.#client, asked)) {
      if (event.type !== "approval.requested") continue;
      const approval = await this.get(event.data.id, signal).catch(unlessGone);
      if (approval?.status === "open") yield approval;
    }
  }
}

export function approvalOf(client: HoldfastClient, approval: Approval): WaitingApproval {
  const answer = (body: { decision: "allow" | "deny" | "answer"; reason?: string; always?: boolean }) =>
    client.call("answerApproval", { params: { id: approval.id }, body: { ...body, digest: approval.digest } });
  return {
    ...approval,
    allow: (options = {}) => answer({ decision: "allow", ...options }),
    deny: (reason) => answer({ decision: "deny", ...(reason === undefined || !approval.reasons ? {} : { reason }) }),
    answer: (text) => answer({ decision: "answer", reason: text }),
  };
}

/** With its session. */
function unlessGone(error: unknown): undefined {
  if (isCode(error, "approval_not_found")) return undefined;
  throw error;
}
