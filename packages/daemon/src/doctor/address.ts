import type { Listening } from "@holdfast/contract";
import type { Check } from "./doctor.ts";

/** Who can knock at the door. */
export function address(listening: Listening | null): Check {
  if (listening === null) return { id: "address", level: "ok", what: "only the Unix socket, which only you can open", remedy: null };
  if (listening.error !== null) {
    return { id: "address", level: "problem", what: listening.error, remedy: "holdfast up --listen another, or --no-listen" };
  }
  if (!listening.public) return { id: "address", level: "ok", what: `${listening.url}, from this machine, with a token`, remedy: null };
  return {
    id: "address",
    level: "warning",
    what: `other machines reach ${listening.url}, and tokens and output go there unencrypted`,
    remedy: "holdfast up --listen 127.0.0.1:0, and come through ssh -L",
  };
}
