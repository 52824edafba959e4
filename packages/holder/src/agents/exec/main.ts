/** `node exec-agent.mjs [WORD…] ORDER.json`: runs a command per turn as an agent that speaks the Agent Client Protocol. */
import { dirname, resolve } from "node:path";
import { ExecOrder } from "@holdfast/contract/agent/order";
import { readOrder } from "../order.ts";
import { serve } from "../serve.ts";
import { ExecConversation } from "./exec-conversation.ts";

const file = process.argv.slice(2).at(-1) ?? "";
const given = readOrder(file, ExecOrder);
// Arguments that the user gave after `--` belong to the command.
const order = { ...given, command: [...given.command, ...process.argv.slice(2, -1)] };
await serve(
  {
    name: "holdfast-exec",
    title: order.command[0] ?? "",
    steers: false,
    open: (place) => new ExecConversation(order, place, dirname(resolve(file))),
  },
  file,
);
