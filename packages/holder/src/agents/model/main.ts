/** `node model-agent.mjs ORDER.json`: the built-in agent, which speaks the Agent Client Protocol. */
import { ModelOrder } from "@holdfast/contract/agent/order";
import { readOrder } from "../order.ts";
import { serve } from "../serve.ts";
import { modelKind } from "./open-model.ts";

const file = process.argv.slice(2).at(-1) ?? "";
await serve(modelKind(readOrder(file, ModelOrder), process.env), file);
