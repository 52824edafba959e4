import type { Digest } from "@holdfast/contract/digest/digest";
import type { Context } from "../command.ts";

/**
 * Records that a person has viewed an ended session, which may then be pruned. Scripts and agents do not count; a pager does, because one of the
 * streams is a terminal then. A failure is ignored: it must not fail a command that has shown its output.
 */
export async function tellViewed(context: Context, ref: string): Promise<void> {
  if (!isPerson()) return;
  await context.client.call("viewSession", { params: { ref }, body: {} }).catch(() => {});
}

/** Records that a person has seen a session, now or through a digest. The next digest continues from there. */
export async function tellLooked(context: Context, ref: string, seen: { upTo?: number; head?: string | null } = {}): Promise<void> {
  if (context.json || !isPerson()) return;
  await context.client.call("lookAtSession", { params: { ref }, body: seen }).catch(() => {});
}

/** News for a person. A failure is ignored, so that it never blocks a session. */
export async function newsOf(context: Context, ref: string): Promise<Digest | undefined> {
  if (!isPerson()) return undefined;
  return context.client.call("getDigest", { params: { ref }, query: { brief: true } }).catch(() => undefined);
}

function isPerson(): boolean {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  return hasTerminal && process.env.HOLDFAST_SESSION === undefined;
}
