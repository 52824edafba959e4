/**
 * The rights of a session's own token on groups. It may change groups that it or a child is in; it may read those above, whose values it inherits,
 * and those below. Of other groups it learns only that one exists: a taken path must be distinguishable from a mistyped one.
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

  /** The groups that the session or a child is in. */
  of(reach: SessionId): string[] {
    return this.#own(reach);
  }

  /** Whether the session may read the group. */
  sees(reach: SessionId, path: string): boolean {
    return this.#own(reach).some((own) => own === path || isBelow(own, path) || isBelow(path, own));
  }

  /** Throws `forbidden`, or `group_not_found` for a missing group. `reach` undefined: the caller is not a session. */
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

  /** As above, for a group that may have to be created: a new one is the session's own, except inside a foreign one. */
  checkJoin(reach: SessionId | undefined, path: string, endpoint: string): void {
    if (reach === undefined) return;
    const name = path.normalize("NFC");
    const own = this.#own(reach);
    if (own.includes(name)) return;
    const isNew = !this.#queries.has(name);
    const isBelowOthers = this.#queries.paths().some((each) => isBelow(name, each)) && !own.some((each) => isBelow(name, each));
    if (!isNew || isBelowOthers) throw this.#refuse(reach, path, endpoint);
  }

  /** The members of the groups that the session sees. It does not see messages between others, even if a group above contains them all. */
  peersOf(reach: SessionId): ReadonlySet<SessionId> {
    return new Set(this.#queries.peersIn(this.#own(reach), null).map(({ session }) => session));
  }

  /** A session may not remove a group that has other members. */
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
