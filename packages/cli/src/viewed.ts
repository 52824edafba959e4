import type { Context } from "./command.ts";

/**
 * Somebody has looked at an ended session: from now on it may be pruned. Only a comfort for later: that it could not be told must not
 * fail a command that has shown what was asked for.
 */
export async function tellViewed(context: Context, ref: string): Promise<void> {
  await context.client.call("viewSession", { params: { ref }, body: {} }).catch(() => {});
}
