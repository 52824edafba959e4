import { formatCursor, HoldfastError, type SessionId } from "@holdfast/contract";
import type { Approvals } from "../approval/approvals.ts";
import type { Journal } from "../journal/journal.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Handlers } from "./bind.ts";
import type { Gate } from "./gate.ts";

export type ApprovalHandlers = Pick<Handlers, "listApprovals" | "getApproval" | "requestApproval" | "withdrawApproval" | "answerApproval">;

/** The client repeats its request, because some proxies drop a connection that is silent for longer. */
const LONGEST_WAIT_MS = 60_000;

export function approvalHandlers(rooms: {
  approvals: Approvals;
  queries: SessionQueries;
  journal: Journal;
  gate: Gate;
  /** Whether a session may answer for its children. */
  parentsAnswer: boolean;
}): ApprovalHandlers {
  const { approvals, queries, journal, gate, parentsAnswer } = rooms;
  const within = (reach: SessionId | undefined) => (reach === undefined ? undefined : queries.descendants(reach));
  /** A request of the session or of a descendant. */
  const own = (ref: string, reach: SessionId) => {
    try {
      return approvals.get(ref, within(reach));
    } catch (error) {
      if (approvals.knows(ref)) throw gate.refuse(reach, "answerApproval", "requests of other sessions are not this session's to answer");
      throw error;
    }
  };
  return {
    listApprovals: ({ query: { session, all } }, { reach }) => {
      const { cursor } = journal;
      const resolve = (ref: string) => (reach === undefined ? queries.resolve(ref).id : gate.resolve(reach, "listApprovals", ref));
      const sessions = session === undefined ? within(reach) : [resolve(session)];
      return { cursor: formatCursor(cursor), approvals: approvals.list({ all, sessions }) };
    },
    getApproval: ({ params, query: { waitMs } }, { reach, signal }) => {
      if (waitMs === 0) return approvals.get(params.id, within(reach));
      const enough = AbortSignal.any([signal, AbortSignal.timeout(Math.min(waitMs, LONGEST_WAIT_MS))]);
      return approvals.over(params.id, { within: within(reach), signal: enough });
    },
    requestApproval: ({ body }, { actor, reach }) => {
      const ref = body.session ?? reach;
      if (ref === undefined) throw new HoldfastError("usage", "name the session that asks");
      const id = reach === undefined ? queries.resolve(ref).id : gate.resolve(reach, "requestApproval", ref);
      return approvals.request(queries.resolve(id), body, actor);
    },
    withdrawApproval: ({ params }, { actor, reach }) => approvals.withdraw(params.id, { within: within(reach), actor }),
    answerApproval: ({ params, body }, { actor, reach }) => {
      if (reach === undefined) return approvals.answerAndProve(params.id, { ...body, actor });
      if (!parentsAnswer) throw gate.refuse(reach, "answerApproval", "config.toml does not let sessions answer for their children");
      const { id, session, name, for: what } = own(params.id, reach);
      if (what === "trust" || what === "login") throw gate.refuse(reach, "answerApproval", "only a person decides about trust");
      if (session === reach) throw gate.refuse(reach, "answerApproval", "a session cannot answer its own requests");
      if (body.always) throw gate.refuse(reach, "answerApproval", `a session can only allow a request of ${name} once each time`);
      return approvals.answerAndProve(id, { ...body, actor });
    },
  };
}
