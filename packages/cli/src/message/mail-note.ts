import { counted } from "@holdfast/platform/units";
import type { Context } from "../command.ts";
import { color } from "../text/color.ts";

/** Prints one line on a terminal if the person has unread messages. */
export function tellMail(unread: number): void {
  if (unread === 0 || !process.stdout.isTTY) return;
  process.stdout.write(`${color("yellow", `${counted(unread, "message")} for you: holdfast messages --mine`)}\n`);
}

/** The same, after counting the messages. */
export async function lookForMail({ client, json }: Context): Promise<void> {
  if (json || !process.stdout.isTTY) return;
  const { messages } = await client.call("listMessages", { query: { mine: true, state: ["queued"] } });
  tellMail(messages.length);
}
