/**
 * What a session's own token may do with groups. It changes those that it or a child of it is in; it may look at those above them, whose values
 * are its own too, and at those below. Of others it hears only that there is one: a path that is taken must be told apart from one that was mistyped.
 */
import { HoldfastError, isBelow, type SessionId } from "@holdfast/contract";
import { sessionPrincipal } from "../access/principal.ts";
import type { Refusals } from "../access/refusals.ts";
import type { GroupQueries } from "../projection/group-queries.ts";
import type { SessionQueries } from "../projection/session-queries.ts";

export class GroupReach {
  readonly #queries: GroupQueries;
  readonly #sessions: SessionQueries;
  readonly #refusals: Refusals;

  constructor(options: { queries: GroupQueries; sessions: SessionQueries; refusals: Refusals }) {
    this.#queries = options.queries;
    this.#sessions = options.sessions;
    this.#refusals = options.refusals;
  }

  /** Those that it or a child of it is in. */
  of(reach: SessionId): string[] {
    return this.#own(reach);
  }

  /** Which it may look at. */
  sees(reach: SessionId, path: string): boolean {
    return this.#own(reach).some((own) => own === path || isBelow(own, path) || isBelow(path, own));
  }

  /** Throws `forbidden`, and for one that is not there `group_not_found`. `reach` undefined: whoever asks is no session. */
  checkRead(reach: SessionId | undefined, path: string, endpoint: string): void {
    if (reach === undefined) return;
    this.#checkThere(reach, path);
    if (!this.sees(reach, path.normalize("NFC"))) throw this.#refuse(reach, path, endpoint);
  }

  checkWrite(reach: SessionId | undefined, path: string, endpoint: string): void {
    if (reach === undefined) return;
    this.#checkThere(reach, path);
    if (!this.#own(reach).includes(path.normalize("NFC"))) throw this.#refuse(reach, path, endpoint);
  }

  /** Likewise, of one that may have to be made: a new one is its own; one in another's is not. */
  checkJoin(reach: SessionId | undefined, path: string, endpoint: string): void {
    if (reach === undefined) return;
    const name = path.normalize("NFC");
    const own = this.#own(reach);
    if (own.includes(name)) return;
    const isNew = !this.#queries.has(name);
    const isBelowOthers = this.#queries.paths().some((each) => isBelow(name, each)) && !own.some((each) => isBelow(name, each));
    if (!isNew || isBelowOthers) throw this.#refuse(reach, path, endpoint);
  }

  /** Those in the groups that it sees: what others say to one another is not for it, though a group above holds them all. */
  peersOf(reach: SessionId): ReadonlySet<SessionId> {
    return new Set(this.#queries.peersIn(this.#own(reach), null).map(({ session }) => session));
  }

  /** What others are in as well is not a session's to remove. */
  checkAlone(reach: SessionId | undefined, path: string, endpoint: string): void {
    if (reach === undefined) return;
    const own = new Set(this.#sessions.descendants(reach));
    const others = this.#queries.membersBelow(path.normalize("NFC")).filter(({ session }) => !own.has(session));
    if (others.length === 0) return;
    this.#refusals.note(sessionPrincipal(reach), { endpoint, why: "the group has other members" });
    throw new HoldfastError("forbidden", `${path} has other members: ${others.map(({ name }) => name).join(", ")}`, {
      hint: "leave it instead: holdfast group leave GROUP SESSION",
    });
  }

  #checkThere(reach: SessionId, path: string): void {
    if (this.#queries.has(path.normalize("NFC"))) return;
    throw new HoldfastError("group_not_found", `there is no group ${JSON.stringify(path)}`, {
      hint: "list the groups that this session can reach: holdfast group ls",
      candidates: [...new Set(this.#own(reach))],
    });
  }

  #own(reach: SessionId): string[] {
    return this.#sessions.descendants(reach).flatMap((id) => this.#queries.of(id));
  }

  #refuse(reach: SessionId, path: string, endpoint: string): HoldfastError {
    this.#refusals.note(sessionPrincipal(reach), { endpoint, why: "neither the session nor a child of it is in that group" });
    return new HoldfastError("forbidden", `neither this session nor a child of it is in a group ${JSON.stringify(path)}`, {
      hint: "a session reaches its own groups: holdfast group ls; a person can add it to others",
    });
  }
}
