import { HoldfastError } from "@holdfast/contract/errors";
import type { GroupMessage } from "@holdfast/contract/message/message";
import { newId } from "@holdfast/contract/new-id";
import type { Command, Context } from "../../command.ts";
import { insist } from "../../connection/insist.ts";
import { readInput } from "../../console/read-input.ts";
import { sentLine } from "../../group/message-text.ts";
import { waitFor } from "../../message/wait-for.ts";
import { someDuration } from "../../text/duration.ts";

export const command: Command = {
  name: "group send",
  summary: "send a message to a group",
  follows: ({ flags }) => flags.has("wait"),
  usage: "GROUP TEXT|- [--coordinator [--wait [--timeout 5m]]] [--steer] [--reply-to ID] [--expires 10m]",
  description:
    "Delivers the message to every running member of the group and of the groups below it, except the sender. Each copy has its own receipts; see holdfast group log. Messages of agents are marked as such. A shell gets nothing typed; it reads the message with holdfast messages --mine.",
  flags: {
    coordinator: { summary: "send it only to the coordinator" },
    wait: { summary: "with --coordinator: wait for the answer and print it" },
    timeout: { value: "TIME", summary: "with --wait: time limit (default: none)", complete: "nothing" },
    steer: { summary: "deliver during the agents' turns instead of after them" },
    "reply-to": { value: "ID", summary: "reply to this message", complete: "nothing" },
    expires: { value: "TIME", summary: "drop the message if it is not delivered within this time", complete: "nothing" },
  },
  arguments: "groups",
  takesRest: true,
  examples: [
    ["holdfast group send team 'the API is frozen now'", "send to all members"],
    ["holdfast group send team --coordinator 'I am done with the parser'", "send to the coordinator"],
    ["holdfast group send team --coordinator 'how far are you?' --wait", "ask the coordinator and print the answer"],
  ],
  async run(context) {
    const { flags, json } = context;
    const [group, given, ...more] = [...context.args, ...context.rest];
    if (group === undefined || given === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected a group and one text", { hint: "usage: holdfast group send GROUP 'TEXT'" });
    const [wait, isForOne] = [flags.has("wait"), flags.has("coordinator")];
    if (flags.text("timeout") !== undefined && !wait)
      throw new HoldfastError("usage", "--timeout has no effect without --wait", { hint: "add --wait" });
    if (wait && !isForOne)
      throw new HoldfastError("usage", "--wait does not work for a group: each member answers separately", {
        hint: `omit --wait; then run: holdfast group log ${group}`,
      });
    const text = given === "-" ? (await readInput()).replace(/\r?\n$/, "") : given;
    const sent = await queue(context, { group, text, role: isForOne ? "coordinator" : "member" });
    if (wait) return waitFor(context, { id: sent.to[0]?.message ?? "" });
    process.stdout.write(`${json ? JSON.stringify(sent) : sentLine(sent)}\n`);
    return 0;
  },
};

async function queue(
  { flags, client }: Context,
  { group, text, role }: { group: string; text: string; role: "member" | "coordinator" },
): Promise<GroupMessage> {
  if (text.trim() === "") throw new HoldfastError("usage", "the message is empty");
  const expires = flags.text("expires");
  const expiresMs = expires === undefined ? undefined : someDuration(expires, "--expires");
  const body = { id: newId(), text, role, steer: flags.has("steer"), replyTo: flags.text("reply-to"), expiresMs };
  return insist(() => client.call("sendToGroup", { params: { group }, body }));
}
