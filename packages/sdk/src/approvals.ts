/** The inbox of approvals. */
import type { Approval } from "@holdfast/contract/approval/approval";
import type { HoldfastClient } from "./client.ts";
import { followEvents, isCode } from "./follow.ts";

/** An approval and the methods that answer it. The first answer counts; a later one fails with `approval_over`. */
export type WaitingApproval = Approval & {
  /** Allows the request. `always` also allows similar requests from now on, if the agent offers that. */
  allow(options?: { always?: boolean }): Promise<Approval>;
  /** Denies the request. The agent is given the reason if it accepts one (`reasons`). */
  deny(reason?: string): Promise<Approval>;
  /** Answers a question. */
  answer(text: string): Promise<Approval>;
};

/** Permission requests and questions of agents. */
export class Approvals {
  readonly #client: HoldfastClient;

  /** Programs use `holdfast.approvals` instead. */
  constructor(client: HoldfastClient) {
    this.#client = client;
  }

  /** Open approvals, longest waiting first. `session` limits the list to one session; `all` includes closed approvals. */
  async list(options: { session?: string; all?: boolean; signal?: AbortSignal } = {}): Promise<WaitingApproval[]> {
    const { signal, ...query } = options;
    const { approvals } = await this.#client.call("listApprovals", { query }, signal);
    return approvals.map((approval) => approvalOf(this.#client, approval));
  }

  /** Finds an approval by id, by id prefix, or by the name of a session with a single open approval. */
  async get(id: string, signal?: AbortSignal): Promise<WaitingApproval> {
    return approvalOf(this.#client, await this.#client.call("getApproval", { params: { id } }, signal));
  }

  /** Yields open approvals, then new ones as they arrive, each once. */
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

/** An approval is removed together with its session. */
function unlessGone(error: unknown): undefined {
  if (isCode(error, "approval_not_found")) return undefined;
  throw error;
}
