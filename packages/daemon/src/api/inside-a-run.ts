/**
 * Checks whether a process is inside a run of this home: by its cgroup, or by the marker in its environment, its ancestors' or their session leaders'.
 * An adopted agent does not count: it belongs to its user and never had a token.
 */
import { HoldfastError } from "@holdfast/contract";
import { environmentValues, inspect, scopeOf } from "@holdfast/platform";
import { parseRunMarker, type RunId, SCOPE_PREFIX } from "../host/host.ts";

/** Far more than anybody nests; pids that are reused during the check could form a circle. */
const MOST_ANCESTORS = 100;

export interface RunsOfHome {
  has(run: RunId): boolean;
}

export function runAround(pid: number, runs: RunsOfHome): RunId | undefined {
  const scope = scopeOf(pid);
  const scoped = scope?.startsWith(SCOPE_PREFIX) ? parseRunMarker(scope.slice(SCOPE_PREFIX.length)) : undefined;
  if (scoped && runs.has(scoped)) return scoped;
  for (let at = pid, count = 0; at > 1 && at !== process.pid && count < MOST_ANCESTORS; count++) {
    const info = inspect(at);
    if (!info) return undefined;
    for (const marker of environmentValues("HOLDFAST_RUN", new Set([at, info.session])).values()) {
      const run = parseRunMarker(marker);
      if (run && runs.has(run)) return run;
    }
    at = info.parent;
  }
  return undefined;
}

/** The error does not explain how to act as the user, because an agent follows the hints in errors. */
export function insideWithoutToken(run: string | undefined): HoldfastError {
  const where = run === undefined ? "the calling process has ended" : `the request comes from inside the run ${run}`;
  return new HoldfastError("unauthenticated", `${where}, and has no token`, {
    hint: 'send the run\'s HOLDFAST_TOKEN; see "Inside a session" in docs/guides/secure.md',
  });
}
