import { checkName, HoldfastError, type NewToken, newSessionId, type Principal, type Scope, type Token } from "@holdfast/contract";
import { describe, type Home, log } from "@holdfast/platform";
import type { Journal } from "../journal/journal.ts";
import type { TokenQueries } from "../projection/tokens.ts";
import { DAEMON } from "./principal.ts";
import { RevokedList } from "./revoked-list.ts";
import { hashOf, newSecret } from "./secret.ts";

/** Creates and revokes named tokens. The event is in the journal before the text is returned: a crash in between leaves a token that nobody has. */
export class Tokens {
  readonly #journal: Journal;
  readonly #queries: TokenQueries;
  readonly #list: RevokedList;
  readonly #clock: () => number;

  constructor(options: { home: Home; journal: Journal; queries: TokenQueries; clock?: () => number }) {
    this.#list = new RevokedList(options.home);
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#clock = options.clock ?? Date.now;
  }

  /** A restored backup may be older than a revocation, which must still hold. */
  begin(): void {
    const revoked = this.#list.read();
    for (const { id, name, revokedAt } of this.#queries.list()) {
      if (revokedAt !== null || !revoked.includes(id) || this.#queries.get(id)?.expired) continue;
      this.#journal.append({ type: "token.revoked", actor: DAEMON, session: null, data: { id, name } });
    }
  }

  /** Records which tokens have expired, so that neither a clock that is set back nor a backup makes one valid again. */
  expire(): void {
    const now = this.#clock();
    for (const { id, name, expiresAt } of this.#queries.expiring()) {
      if (expiresAt === null || Date.parse(expiresAt) > now) continue;
      try {
        this.#list.add(id);
        this.#journal.append({ type: "token.expired", actor: DAEMON, session: null, data: { id, name } });
      } catch (error) {
        // The token is refused anyway, and the next look tries again.
        log(`the expiry of the token ${name} is not in the journal: ${describe(error)}`);
      }
    }
  }

  list(): Token[] {
    return this.#queries.list();
  }

  create(request: { scope: Scope; name?: string | undefined; expiresInMs?: number | undefined }, actor: Principal): NewToken {
    const id = newSessionId();
    const name = request.name === undefined ? id : checkName(request.name);
    // An id is taken too: a token named like another token's id would be revoked in its place.
    if (this.#queries.find(name) || this.#queries.get(name)) {
      throw new HoldfastError("name_taken", `a token named ${JSON.stringify(name)} already exists`, {
        hint: `choose another name, or revoke that one: holdfast token revoke ${name}`,
      });
    }
    const token = newSecret({ token: id });
    const { scope, expiresInMs } = request;
    const expiresAt = expiresInMs === undefined ? null : new Date(this.#clock() + expiresInMs).toISOString();
    this.#journal.append({ type: "token.created", actor, session: null, data: { id, name, scope, hash: hashOf(token), expiresAt } });
    return { id, name, scope, token, expiresAt };
  }

  revoke(ref: string, actor: Principal): Token {
    const token = this.#queries.find(ref);
    if (!token) {
      const live = this.#queries.list().filter(({ revokedAt }) => revokedAt === null);
      throw new HoldfastError("token_not_found", `no active token has the name or id ${JSON.stringify(ref)}`, {
        hint: "list tokens: holdfast token ls",
        candidates: live.map(({ name }) => name),
      });
    }
    this.#list.add(token.id);
    this.#journal.append({ type: "token.revoked", actor, session: null, data: { id: token.id, name: token.name } });
    return this.#queries.list().find(({ id }) => id === token.id) ?? token;
  }
}
