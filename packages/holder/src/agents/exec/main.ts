/** `node exec-agent.mjs ORDER.json`: a command for each turn, as an agent that speaks the Agent Client Protocol. */
import { ExecOrder } from "@holdfast/contract/agent-order";
import { readOrder } from "../order.ts";
import { serve } from "../serve.ts";
import { ExecConversation } from "./exec-conversation.ts";

const file = process.argv[2] ?? "";
const order = readOrder(file, ExecOrder);
await serve(
  { name: "holdfast-exec", title: order.command[0] ?? "", steers: false, open: (place) => new ExecConversation(order, place) },
  file,
);
