import { userInfo } from "node:os";
import type { Principal } from "@holdfast/contract";

/** What Holdfast notices by itself. */
export const DAEMON = "daemon" as Principal;

/** Only the daemon's own OS user can open its socket. */
export function osUser(): Principal {
  return `user:${userInfo().username}` as Principal;
}
