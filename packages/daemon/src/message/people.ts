/** Persons who can get a message: those who have access and can read it. */
import { HoldfastError, Principal, type Scope, type SessionId, sessionOf } from "@holdfast/contract";
import { osUser } from "../access/principal.ts";
import type { SessionQueries } from "../projection/session-queries.ts";

export class People {
  readonly #sessions: SessionQueries;
  readonly #scopeOf: (principal: Principal) => Scope | undefined;

  constructor(options: { sessions: SessionQueries; scopeOf(principal: Principal): Scope | undefined }) {
    this.#sessions = options.sessions;
    this.#scopeOf = options.scopeOf;
  }

  /** `user:NAME`, `token:NAME`, or `owner`: the owner of the session `asking`, else of this home. */
  find(person: string, asking: SessionId | undefined): Principal {
    const principal = person === "owner" ? this.#ownerOf(asking) : Principal.safeParse(person).data;
    if (principal && isPerson(principal) && this.#scopeOf(principal) !== undefined) return principal;
    throw new HoldfastError("principal_unknown", `${JSON.stringify(person)} cannot read messages here`, {
      hint: `use owner, user:NAME (${osUser()} needs no token) or token:NAME (holdfast token ls lists them)`,
    });
  }

  /** A session started by another one belongs to that one's owner. */
  #ownerOf(session: SessionId | undefined): Principal {
    const seen = new Set<SessionId>();
    for (let id = session; id !== undefined && !seen.has(id); ) {
      seen.add(id);
      const owner = this.#sessions.get(id)?.owner ?? osUser();
      const parent = sessionOf(owner);
      if (parent === undefined) return this.#scopeOf(owner) === undefined ? osUser() : owner;
      id = parent;
    }
    return osUser();
  }
}

function isPerson(principal: string): boolean {
  return /^(user|token):\S+$/.test(principal);
}
