/**
 * Identifies the principal of a request. On the Unix socket, which only the daemon's OS user can open, a request without a token is that
 * user's; with a token it is the token's, on any socket, so that nothing inside a run acts as owner by accident. This is no sandbox: a
 * program of the same user can omit its token.
 */
import { HoldfastError, hasEnded, tokenPrincipal } from "@holdfast/contract";
import type { Home } from "@holdfast/platform";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { TokenQueries } from "../projection/tokens.ts";
import type { Identity } from "./identity.ts";
import { osUser, sessionPrincipal } from "./principal.ts";
import type { Refusals } from "./refusals.ts";
import { isRunToken } from "./run-token.ts";
import { type Holder, holderOf, isTextOf } from "./secret.ts";

export class Access {
  readonly #home: Home;
  readonly #queries: SessionQueries;
  readonly #tokens: TokenQueries;
  readonly #refusals: Refusals;
  readonly #clock: () => number;
  readonly #onExpired: () => void;
  readonly #user: Identity = { actor: osUser(), scope: "owner", reach: undefined, lasts: true, isValid: () => true };

  constructor(options: {
    home: Home;
    queries: SessionQueries;
    tokens: TokenQueries;
    refusals: Refusals;
    clock?: () => number;
    /** A token was found to have expired. */
    onExpired?(): void;
  }) {
    this.#home = options.home;
    this.#queries = options.queries;
    this.#tokens = options.tokens;
    this.#refusals = options.refusals;
    this.#clock = options.clock ?? Date.now;
    this.#onExpired = options.onExpired ?? (() => {});
  }

  /** The identity behind the `Authorization` header. `open`: a request without one is the OS user's. Throws `unauthenticated`. */
  identify(authorization: string | undefined, { open }: { open: boolean }): Identity {
    if (authorization === undefined) {
      if (open) return this.#user;
      throw refuse("this address requires a token", "create one: holdfast token create; then set HOLDFAST_TOKEN to it");
    }
    const text = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    const holder = text === undefined ? undefined : holderOf(text);
    if (text === undefined || holder === undefined) throw refuse("this is not a Holdfast token", WRONG_HINT);
    return "token" in holder ? { ...this.#named(holder, text), canDrop: open } : this.#session(holder, text);
  }

  #named(holder: { token: string }, text: string): Identity {
    const token = this.#tokens.get(holder.token);
    if (!token || !isTextOf(token.hash, text)) throw refuse("there is no such token", WRONG_HINT);
    const actor = tokenPrincipal(token.name);
    const why = () => {
      const now = this.#tokens.get(token.id);
      if (!now || now.revokedAt !== null) return "revoked";
      return now.expired || (now.expiresAt !== null && this.#clock() >= Date.parse(now.expiresAt)) ? "expired" : undefined;
    };
    const over = why();
    if (over !== undefined) {
      if (over === "expired" && !token.expired) this.#onExpired();
      this.#refusals.note(actor, { endpoint: "any", why: `the token is ${over}` });
      throw refuse(
        `the token ${token.name} ${over === "revoked" ? "was revoked" : "has expired"}`,
        "create a new one: holdfast token create",
      );
    }
    return { actor, scope: token.scope, reach: undefined, lasts: false, isValid: () => why() === undefined };
  }

  #session(run: Extract<Holder, { run: number }>, text: string): Identity {
    const isLive = () => {
      const record = this.#queries.get(run.session);
      return record !== undefined && record.run === run.run && !hasEnded(record.status);
    };
    if (!isLive() || !isRunToken(this.#home, run, text)) {
      throw refuse(
        `the token belongs to run ${run.run} of ${run.session}, which is not running in this home`,
        "each run has its own token, in HOLDFAST_TOKEN",
      );
    }
    return { actor: sessionPrincipal(run.session), scope: "driver", reach: run.session, lasts: false, isValid: isLive };
  }
}

/** Does not explain how to act as the user: an agent follows the hints in errors. */
const WRONG_HINT = "check HOLDFAST_TOKEN; its owner lists tokens with: holdfast token ls";

function refuse(message: string, hint: string): HoldfastError {
  return new HoldfastError("unauthenticated", message, { hint });
}
