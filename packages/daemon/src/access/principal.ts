import type { Principal, Scope, SessionId } from "@holdfast/contract";
import { userName } from "@holdfast/platform";

export { DAEMON } from "@holdfast/contract";

/** Only the daemon's own OS user can open its socket. */
export function osUser(): Principal {
  return `user:${userName()}` as Principal;
}

export function sessionPrincipal(id: SessionId): Principal {
  return `session:${id}` as Principal;
}

/** The scope of a principal that is not the caller; undefined if its token is gone. */
export function scopeOf(principal: Principal, tokens: { find(name: string): { scope: Scope } | undefined }): Scope | undefined {
  const [kind, name = ""] = principal.split(/:(.*)/s);
  if (kind === "token") return tokens.find(name)?.scope;
  if (kind === "session") return "driver";
  return principal === osUser() ? "owner" : undefined;
}

/** A principal's name for people: a session is shown by its name. */
export function calledIn(sessions: { get(id: SessionId): { name: string } | undefined }, principal: Principal): string {
  const [kind, id = ""] = principal.split(/:(.*)/s);
  return kind === "session" ? (sessions.get(id as SessionId)?.name ?? principal) : principal;
}
