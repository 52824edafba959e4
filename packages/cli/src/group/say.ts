/** Shared by `send --group`, `send --coordinator` and `group send`. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { GroupMessage } from "@holdfast/contract/message";
import { newId } from "@holdfast/contract/new-id";
import type { Context, Flag } from "../command.ts";
import { insist } from "../connection/insist.ts";
import { someDuration } from "../text/duration.ts";
import { sentLine } from "./message-text.ts";

export const SAID_FLAGS = {
  "reply-to": { value: "ID", summary: "reply to this message", complete: "nothing" },
  expires: { value: "TIME", summary: "drop the message if it is not delivered within this time", complete: "nothing" },
} as const satisfies Record<string, Flag>;

export interface Said {
  group: string;
  text: string;
  role: "member" | "coordinator";
}

export async function sayToGroup(context: Context, said: Said): Promise<number> {
  const sent = await queueForGroup(context, said);
  process.stdout.write(context.json ? `${JSON.stringify(sent)}\n` : `${sentLine(sent)}\n`);
  return 0;
}

export async function queueForGroup({ flags, client }: Context, { group, text, role }: Said): Promise<GroupMessage> {
  if (text.trim() === "") throw new HoldfastError("usage", "the message is empty");
  const expires = flags.text("expires");
  const expiresMs = expires === undefined ? undefined : someDuration(expires, "--expires");
  const body = { id: newId(), text, role, steer: flags.has("steer"), replyTo: flags.text("reply-to"), expiresMs };
  return insist(() => client.call("sendToGroup", { params: { group }, body }));
}
