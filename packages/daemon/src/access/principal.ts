import type { Principal, SessionId } from "@holdfast/contract";
import { userName } from "@holdfast/platform";

/** What Holdfast notices by itself. */
export const DAEMON = "daemon" as Principal;

/** Only the daemon's own OS user can open its socket. */
export function osUser(): Principal {
  return `user:${userName()}` as Principal;
}

export function sessionPrincipal(id: SessionId): Principal {
  return `session:${id}` as Principal;
}
