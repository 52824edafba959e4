import type { Digest } from "@holdfast/contract/digest";
import type { Context } from "./command.ts";

/**
 * A person has looked at an ended session: from now on it may be pruned. What a script or an agent reads is no look, and a
 * pager is: one of the streams is a terminal then. Only a comfort for later: that it could not be told must not
 * fail a command that has shown what was asked for.
 */
export async function tellViewed(context: Context, ref: string): Promise<void> {
  if (!isPerson()) return;
  await context.client.call("viewSession", { params: { ref }, body: {} }).catch(() => {});
}

/** A person has seen a session, as it is now or as a digest told it: the next digest goes on from there. */
export async function tellLooked(context: Context, ref: string, seen: { upTo?: number; head?: string | null } = {}): Promise<void> {
  if (context.json || !isPerson()) return;
  await context.client.call("lookAtSession", { params: { ref }, body: seen }).catch(() => {});
}

/** What is new to a person. Nobody is kept from a session because that cannot be told. */
export async function newsOf(context: Context, ref: string): Promise<Digest | undefined> {
  if (!isPerson()) return undefined;
  return context.client.call("getDigest", { params: { ref }, query: { brief: true } }).catch(() => undefined);
}

function isPerson(): boolean {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  return hasTerminal && process.env.HOLDFAST_SESSION === undefined;
}
