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

function isPerson(): boolean {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  return hasTerminal && process.env.HOLDFAST_SESSION === undefined;
}
