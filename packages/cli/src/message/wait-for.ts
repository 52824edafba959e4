import type { Message } from "@holdfast/contract/message/message";
import type { Context } from "../command.ts";
import { parseDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";
import { follow, outcome } from "./text.ts";

/** Waits for the answer, as --timeout says, and prints it. */
export async function waitFor(context: Context, message: Pick<Message, "id">): Promise<number> {
  const timeout = context.flags.text("timeout");
  const now = await follow(context.client, message, {
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout, "--timeout"),
    onWaiting: process.stderr.isTTY ? (text) => process.stderr.write(`${text}\n`) : undefined,
  });
  if (context.json) process.stdout.write(`${JSON.stringify(now)}\n`);
  if (now.state !== "replied") throw outcome(now);
  if (!context.json && now.reply !== null) process.stdout.write(`${process.stdout.isTTY ? readable(now.reply) : now.reply}\n`);
  if (!context.json && now.reply === null) process.stderr.write(`${plain(now.name)} has answered but did not report the text\n`);
  return 0;
}

/** Makes the agent's text safe to print on a terminal. */
function readable(reply: string): string {
  return reply
    .split(/\r?\n/)
    .map((line) => plain(line.replaceAll("\t", "    ")))
    .join("\n");
}
