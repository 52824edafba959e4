import { grants, hasEnded, type Principal, type Scope, type SessionId } from "@holdfast/contract";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { scopeOf } from "./principal.ts";

/**
 * What principals may do at a terminal while they are not asking for anything. A terminal stays open after the request that opened it: what
 * it shows and what gets into it depends on its principal, whoever or whatever moves it.
 */
export class Rights {
  readonly #sessions: SessionQueries;
  readonly #tokens: { find(name: string): { scope: Scope } | undefined };

  constructor(options: { sessions: SessionQueries; tokens: { find(name: string): { scope: Scope } | undefined } }) {
    this.#sessions = options.sessions;
    this.#tokens = options.tokens;
  }

  /** The session that acts, where one does: it sees itself and its descendants only. */
  within(principal: Principal): SessionId | undefined {
    return principal.startsWith("session:") ? (principal.slice("session:".length) as SessionId) : undefined;
  }

  maySee(principal: Principal, session: SessionId): boolean {
    const within = this.within(principal);
    return within === undefined || this.#sessions.descendants(within).includes(session);
  }

  /** No agent types where an approval or trust is waited for: a key could give it. */
  mayType(principal: Principal, session: SessionId): boolean {
    const scope = scopeOf(principal, this.#tokens);
    if (scope === undefined || !grants(scope, "driver") || !this.maySee(principal, session)) return false;
    return this.within(principal) === undefined || !waitsForApproval(this.#sessions.get(session));
  }
}

/** A key in it may allow something: a tool call, or a directory. Only people do that. */
export function waitsForApproval(record: Pick<SessionRecord, "standing" | "status"> | undefined): boolean {
  const what = record?.standing?.attention?.for;
  return record !== undefined && (what === "approval" || what === "trust") && !hasEnded(record.status);
}
