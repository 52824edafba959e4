import { grants, hasEnded, type Principal, type Scope, type SessionId, sessionId, sessionOf } from "@holdfast/contract";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { scopeOf } from "./principal.ts";

/**
 * The rights of a principal at an open terminal, outside of a request. A terminal stays open after the request that opened it, so
 * its output and input depend on the current rights of its principal.
 */
export class Rights {
  readonly #sessions: SessionQueries;
  readonly #tokens: { find(name: string): { scope: Scope } | undefined };

  constructor(options: { sessions: SessionQueries; tokens: { find(name: string): { scope: Scope } | undefined } }) {
    this.#sessions = options.sessions;
    this.#tokens = options.tokens;
  }

  /** The acting session, if there is one: it sees only itself and its descendants. */
  within(principal: Principal): SessionId | undefined {
    // A malformed session principal sees nothing, never everything.
    return principal.startsWith("session:") ? (sessionOf(principal) ?? sessionId("")) : undefined;
  }

  maySee(principal: Principal, session: SessionId): boolean {
    const within = this.within(principal);
    return within === undefined || this.#sessions.descendants(within).includes(session);
  }

  /** No agent types into a session that waits for an approval or for trust, because a key could give it. */
  mayType(principal: Principal, session: SessionId): boolean {
    const scope = scopeOf(principal, this.#tokens);
    if (scope === undefined || !grants(scope, "driver") || !this.maySee(principal, session)) return false;
    return this.within(principal) === undefined || !waitsForApproval(this.#sessions.get(session));
  }
}

/** True if a key may allow a tool call or a directory, which only people may do. */
export function waitsForApproval(record: Pick<SessionRecord, "standing" | "status"> | undefined): boolean {
  const what = record?.standing?.attention?.for;
  return record !== undefined && (what === "approval" || what === "trust") && !hasEnded(record.status);
}
