/** A line about the conversation's future, printed on leaving; undefined if there is nothing to say. */
import type { Context } from "../command.ts";
import { isOver } from "../session/next-run.ts";
import { tellLooked, tellViewed } from "../session/viewed.ts";
import { plain } from "../text/plain.ts";
import type { Opened } from "./open.ts";

export async function farewell(
  context: Context,
  { session: { id, name }, created, named }: Opened,
  said: { anything: boolean; waits: boolean },
): Promise<string | undefined> {
  if (created && !named && !said.anything && !said.waits) return forget(context, id);
  const session = await context.client.call("getSession", { params: { ref: id } }).catch(() => undefined);
  if (!session) return undefined;
  await tellLooked(context, id);
  if (isOver(session)) await tellViewed(context, id);
  const shown = plain(name);
  const holdfast = calledAs();
  const back = `Continue: ${holdfast} chat ${shown}`;
  const works = session.status === "working" || session.status === "starting" || said.waits;
  return isOver(session)
    ? `${shown} has ended (${session.status}). Continue: ${holdfast} chat ${shown}`
    : session.status === "waiting"
      ? `${shown} is waiting for you: ${holdfast} approvals. ${back}`
      : works
        ? `${shown} keeps working in the background. ${back}`
        : `${shown} keeps running. ${back}   Stop: ${holdfast} stop ${shown}`;
}

/** The command as the local machine of an ssh call would write it. */
function calledAs(): string {
  const machine = process.env.HOLDFAST_CALLED;
  return machine ? `holdfast -H ${plain(machine)}` : "holdfast";
}

/** Nobody could find a conversation again that has neither a chosen name nor a message. */
async function forget({ client }: Context, ref: string): Promise<undefined> {
  await client.call("stopSession", { params: { ref }, body: { graceMs: 1000 } }).catch(() => {});
  await client.call("removeSession", { params: { ref } }).catch(() => {});
}
