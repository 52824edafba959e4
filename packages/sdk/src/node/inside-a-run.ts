/**
 * Detects that this process is inside a run of a home, by HOLDFAST_RUN in its environment or in that of an ancestor. A sandbox that strips secrets
 * also strips the run's token; without this check `holdfast` would then act as the user. The daemon checks again, by the peer of its socket. Without
 * /proc only this process's own environment counts.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HoldfastError } from "@holdfast/contract/errors";
import type { Acting } from "../acting.ts";
import { errorOf } from "../errors.ts";

/** Far above any real nesting; ends a loop in the data of /proc. */
const MOST_ANCESTORS = 100;

/** Throws `unauthenticated` inside a run of the home, unless there is a token or the caller acts as its user explicitly. */
export function refuseInsideRun(home: string, acting: Acting, look: { above: boolean } = { above: true }): void {
  if (acting.token || acting.as === "owner") return;
  const run = enclosingRun(home, look);
  if (run !== undefined) throw insideWithoutToken(run);
}

/** The run of this home that contains this process. `above`: also check the environment of its ancestors. */
export function enclosingRun(home: string, { above }: { above: boolean }): string | undefined {
  const own = process.env.HOLDFAST_RUN;
  if (own && isRunOf(home, own)) return own;
  if (!above || process.platform !== "linux") return undefined;
  let pid = process.pid;
  for (let count = 0; pid > 1 && count < MOST_ANCESTORS; count++) {
    const marker = markerOf(pid);
    if (marker !== undefined && isRunOf(home, marker)) return marker;
    pid = parentOf(pid);
  }
  return undefined;
}

export function insideWithoutToken(run: string): HoldfastError {
  return errorOf("unauthenticated", `this process is inside the run ${run}, but HOLDFAST_TOKEN is not set`, { hint: PASS_IT_ON });
}

/** Agents follow hints in errors, so only the guide explains how to act as the user. */
const PASS_IT_ON =
  'let the agent or its sandbox pass HOLDFAST_TOKEN on to the programs it starts; see "Inside a session" in docs/guides/secure.md';

/** A run of another home does not count. */
function isRunOf(home: string, marker: string): boolean {
  const session = /^([a-z][a-z2-7]{9})-\d+$/.exec(marker)?.[1];
  return session !== undefined && existsSync(join(home, "sessions", session));
}

function markerOf(pid: number): string | undefined {
  try {
    return /(?:^|\0)HOLDFAST_RUN=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, "latin1"))?.[1];
  } catch {
    // A process of another user, such as sudo or sshd.
    return undefined;
  }
}

/** The process name in parentheses may itself contain blanks and parentheses. */
function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) || 0;
  } catch {
    return 0;
  }
}
