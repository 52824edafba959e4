import { type Principal, type Scope, type SessionId, sessionOf, userPrincipal } from "@holdfast/contract";
import { userName } from "@holdfast/platform";

export { DAEMON, sessionPrincipal } from "@holdfast/contract";

/** Only the daemon's own OS user can open its socket. */
export function osUser(): Principal {
  return userPrincipal(userName());
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
  const id = sessionOf(principal);
  return (id && sessions.get(id)?.name) ?? principal;
}
