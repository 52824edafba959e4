import type { Listening } from "@holdfast/contract";
import type { Check } from "./check.ts";

/** Reports who can reach the daemon's TCP address. */
export function address(listening: Listening | null): Check {
  if (listening === null) return { id: "address", level: "ok", what: "only the Unix socket, which only you can open", remedy: null };
  if (listening.error !== null) {
    return {
      id: "address",
      level: "problem",
      what: listening.error,
      remedy: "choose another address: holdfast up --listen ADDRESS; or use none: holdfast up --no-listen",
    };
  }
  if (!listening.public)
    return { id: "address", level: "ok", what: `${listening.url}, from this machine only, with a token`, remedy: null };
  return {
    id: "address",
    level: "warning",
    what: `other machines can reach ${listening.url}, and tokens and output travel unencrypted`,
    remedy: "listen locally: holdfast up --listen 127.0.0.1:0; and connect through ssh -L",
  };
}
