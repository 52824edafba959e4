/**
 * Whether this process is inside a run of a home, told by HOLDFAST_RUN in its environment or in that of a process above it. A sandbox that
 * removes what looks like a secret removes the run's token; without this check `holdfast` would then act as its user. The daemon checks
 * again, by the peer of its socket. Where there is no /proc, only this process's own environment tells.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HoldfastError } from "@holdfast/contract/errors";
import type { Acting } from "../acting.ts";
import { errorOf } from "../errors.ts";

/** Far more than anybody nests; a loop in what /proc says ends here. */
const MOST_ANCESTORS = 100;

/** Throws `unauthenticated` inside a run of the home, unless there is a token or the caller has said to act as its user. */
export function refuseInsideRun(home: string, acting: Acting, look: { above: boolean } = { above: true }): void {
  if (acting.token || acting.as === "owner") return;
  const run = enclosingRun(home, look);
  if (run !== undefined) throw insideWithoutToken(run);
}

/** The run of this home that this process is in; `above`: also by what the processes above it say. */
function enclosingRun(home: string, { above }: { above: boolean }): string | undefined {
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

/** An agent reads errors and does what they say: how to act as the user is in the guide alone. */
const PASS_IT_ON =
  'let the agent or its sandbox pass HOLDFAST_TOKEN on to the programs it starts; see "Inside a session" in docs/guides/secure.md';

/** A run of another home says nothing about this one. */
function isRunOf(home: string, marker: string): boolean {
  const session = /^([a-z][a-z2-7]{9})-\d+$/.exec(marker)?.[1];
  return session !== undefined && existsSync(join(home, "sessions", session));
}

function markerOf(pid: number): string | undefined {
  try {
    return /(?:^|\0)HOLDFAST_RUN=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, "latin1"))?.[1];
  } catch {
    // Another user's: sudo, sshd.
    return undefined;
  }
}

/** The name in parentheses may itself contain blanks and parentheses. */
function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) || 0;
  } catch {
    return 0;
  }
}
