/** OpenAI responses: codex. */
import {
  argumentsOf,
  type Call,
  list,
  type Message,
  type Part,
  parsed,
  type Question,
  record,
  type Schema,
  spentOn,
  string,
  type Tool,
} from "./conversation.ts";
import { callsOf, type Dialect, secondsFromNow, sse, textOf, wordsFor } from "./dialect.ts";
import type { Failure } from "./reply.ts";

const RESPONSE = "resp_scripted";
const MESSAGE = "msg_scripted";

export const openaiResponses: Dialect = {
  name: "openai-responses",
  asks: (path) => path.endsWith("/responses"),
  read(body) {
    const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : list(body.input);
    const format = record(record(body.text).format);
    return {
      model: string(body.model),
      system: string(body.instructions),
      developer: items.flatMap(({ role, content }) => (role === "developer" ? [textIn(content)] : [])).join("\n"),
      messages: items.flatMap((item) => message(item, items)),
      tools: list(body.tools).flatMap(toolsIn),
      stream: body.stream === true,
      ...(format.type === "json_schema" ? { schema: record(format.schema) as Schema } : {}),
    };
  },
  stream(question) {
    let items = 0;
    let said = "";
    const open = () => event("response.output_item.added", { output_index: items, item: messageItem("", "in_progress") });
    const close = () => {
      if (said === "") return "";
      const done = event("response.output_item.done", { output_index: items++, item: messageItem(said, "completed") });
      said = "";
      return done;
    };
    return {
      start: () => event("response.created", { response: { id: RESPONSE, model: question.model, status: "in_progress", output: [] } }),
      part(part) {
        if ("text" in part) {
          const before = said === "" ? open() : "";
          said += part.text;
          return (
            before + event("response.output_text.delta", { item_id: MESSAGE, output_index: items, content_index: 0, delta: part.text })
          );
        }
        return close() + event("response.output_item.done", { output_index: items++, item: callItem(question, part.call) });
      },
      end: (parts) =>
        close() + event(question.tooLong ? "response.incomplete" : "response.completed", { response: whole(question, parts) }),
    };
  },
  whole,
  failure,
  broken: (failed) => event("response.failed", { response: { id: RESPONSE, status: "failed", ...failure(failed) } }),
};

function failure({ status, overflow, resetsIn }: Failure) {
  if (resetsIn !== undefined) {
    const limit = { type: "usage_limit_reached", plan_type: "plus", resets_at: secondsFromNow(resetsIn) };
    return { error: { message: "The usage limit has been reached", ...limit } };
  }
  if (!overflow)
    return { error: { message: wordsFor(status), type: "error", code: status === 429 ? "rate_limit_exceeded" : String(status) } };
  return { error: { message: "Your input exceeds the context window of this model.", type: "error", code: "context_length_exceeded" } };
}

function message(item: Record<string, unknown>, items: readonly Record<string, unknown>[]): Message[] {
  if (item.type === "function_call") {
    const call = { id: string(item.call_id), name: string(item.name), arguments: parsed(item.arguments) };
    return [{ from: "model", text: "", calls: [call] }];
  }
  if (item.type === "function_call_output") {
    const call = string(item.call_id);
    return [{ from: "tool", call, name: string(items.find((each) => each.call_id === call)?.name), text: textIn(item.output) }];
  }
  if (item.role === "assistant") return [{ from: "model", text: textIn(item.content), calls: [] }];
  if (item.role !== "user") return [];
  const text = textIn(item.content);
  // Codex sends its own information for the model in user messages.
  return [{ from: "user", text: /^\s*<[a-z_]+>/.test(text) || text.startsWith("# AGENTS.md") ? "" : text }];
}

/** Tools of an MCP server and tools for subagents are in a namespace. */
function toolsIn(tool: Record<string, unknown>): Tool[] {
  if (tool.type === "namespace")
    return list(tool.tools)
      .flatMap(toolsIn)
      .map((one) => ({ ...one, namespace: string(tool.name) }));
  return [{ name: string(tool.name) || string(tool.type), schema: record(tool.parameters) as Schema }];
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return list(Array.isArray(content) ? content : [content])
    .map(({ text }) => string(text))
    .join("\n");
}

function event(type: string, data: Record<string, unknown>): string {
  return sse({ type, ...data }, type);
}

function whole(question: Question, parts: readonly Part[]) {
  const said = textOf(parts);
  const output = [...(said === "" ? [] : [messageItem(said, "completed")]), ...callsOf(parts).map((call) => callItem(question, call))];
  const { input, output: written, cacheRead } = spentOn(question, said);
  const incomplete = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
  return {
    id: RESPONSE,
    object: "response",
    model: question.model,
    ...(question.tooLong ? incomplete : { status: "completed" }),
    output,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: written,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + written,
    },
  };
}

function messageItem(text: string, status: string) {
  return { type: "message", id: MESSAGE, role: "assistant", status, content: [{ type: "output_text", text, annotations: [] }] };
}

function callItem({ tools }: Question, call: Call) {
  const { id, name } = call;
  const namespace = call.namespace ?? tools.find((tool) => tool.name === name)?.namespace;
  const item = { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: argumentsOf(call), status: "completed" };
  return namespace === undefined ? item : { ...item, namespace };
}
