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

/** What a principal may do who is not asking right now; undefined: nothing, for its token is gone. */
export function scopeOf(principal: Principal, tokens: { find(name: string): { scope: Scope } | undefined }): Scope | undefined {
  const [kind, name = ""] = principal.split(/:(.*)/s);
  if (kind === "token") return tokens.find(name)?.scope;
  if (kind === "session") return "driver";
  return principal === osUser() ? "owner" : undefined;
}
