import { HoldfastError } from "@holdfast/contract/errors";
import { actingIn } from "@holdfast/sdk/acting";
import { enclosingRun } from "@holdfast/sdk/node/inside-a-run";
import type { Context } from "../command.ts";

/**
 * For commands that change the user's own files without a daemon, which would refuse a session. `what` completes "a session cannot …". A run of any
 * home counts: the homes share these files.
 */
export function refuseSession({ home }: Context, what: string): void {
  if (actingIn(process.env).as === "owner") return;
  if (!process.env.HOLDFAST_RUN && enclosingRun(home.path, { above: true }) === undefined) return;
  // Agents follow hints in errors, so only the guide explains how to act as the user.
  throw new HoldfastError("forbidden", `a session cannot ${what}`, { hint: 'see "Inside a session" in docs/guides/secure.md' });
}
