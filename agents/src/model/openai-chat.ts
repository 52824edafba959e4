/** OpenAI chat completions: qwen, opencode, aider and most others. */
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
  withoutReminders,
} from "./conversation.ts";
import { callsOf, type Dialect, sse, textOf, wordsFor } from "./dialect.ts";
import type { Failure } from "./reply.ts";

export const openaiChat: Dialect = {
  name: "openai-chat",
  asks: (path) => path.endsWith("/chat/completions"),
  read(body) {
    const messages = list(body.messages);
    const format = record(record(body.response_format).json_schema).schema;
    return {
      model: string(body.model),
      system: messages.flatMap((each) => (isSystem(each) ? [textIn(each.content)] : [])).join("\n"),
      messages: messages.filter((each) => !isSystem(each)).map((each) => message(each, messages)),
      tools: list(body.tools).map((tool) => {
        const { name, parameters } = record(tool.function);
        return { name: string(name), schema: record(parameters) as Schema };
      }),
      stream: body.stream === true,
      ...(format === undefined ? {} : { schema: format as Schema }),
    };
  },
  stream(question) {
    let calls = 0;
    return {
      start: () => chunk(question, { role: "assistant", content: "" }),
      part: (part) =>
        chunk(question, "text" in part ? { content: part.text } : { tool_calls: [{ index: calls++, ...toolCall(part.call) }] }),
      end: (parts) =>
        chunk(question, {}, finish(question, parts)) +
        sse({ ...head(question), object: "chat.completion.chunk", choices: [], usage: usage(question, parts) }) +
        sse("[DONE]"),
    };
  },
  whole(question, parts) {
    const calls = callsOf(parts).map(toolCall);
    const answer = { role: "assistant", content: textOf(parts), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    return {
      ...head(question),
      object: "chat.completion",
      choices: [{ index: 0, message: answer, finish_reason: finish(question, parts) }],
      usage: usage(question, parts),
    };
  },
  failure,
  broken: (failed) => sse(failure(failed)),
};

function failure({ status, overflow, resetsIn }: Failure) {
  if (resetsIn !== undefined) {
    const message = "You exceeded your current quota, please check your plan and billing details.";
    return { error: { message, type: "insufficient_quota", param: null, code: "insufficient_quota" } };
  }
  if (!overflow) return { error: { message: wordsFor(status), type: "error", code: String(status) } };
  const message = "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.";
  return { error: { message, type: "invalid_request_error", param: "messages", code: "context_length_exceeded" } };
}

function message(each: Record<string, unknown>, all: readonly Record<string, unknown>[]): Message {
  if (each.role === "tool") {
    const call = string(each.tool_call_id);
    return { from: "tool", call, name: nameOf(call, all), text: textIn(each.content) };
  }
  if (each.role === "user") return { from: "user", text: lastTextIn(each.content) };
  const calls = list(each.tool_calls).map((call) => {
    const { name, arguments: json } = record(call.function);
    return { id: string(call.id), name: string(name), arguments: parsed(json) };
  });
  return { from: "model", text: textIn(each.content), calls };
}

function nameOf(id: string, all: readonly Record<string, unknown>[]): string {
  const call = all.flatMap((each) => list(each.tool_calls)).find((each) => each.id === id);
  return string(record(call?.function).name);
}

function isSystem({ role }: Record<string, unknown>): boolean {
  return role === "system" || role === "developer";
}

function textIn(content: unknown): string {
  return typeof content === "string"
    ? content
    : list(content)
        .map(({ text }) => string(text))
        .join("\n");
}

/** Qwen adds texts for its model before the user's text, and opencode adds reminders after it. */
function lastTextIn(content: unknown): string {
  const texts = typeof content === "string" ? [content] : list(content).map(({ text }) => string(text));
  return texts.map(withoutReminders).findLast((text) => text !== "") ?? "";
}

function chunk(question: Question, delta: unknown, reason: string | null = null): string {
  return sse({ ...head(question), object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] });
}

function toolCall(call: Call) {
  return { id: call.id, type: "function", function: { name: call.name, arguments: argumentsOf(call) } };
}

function finish({ tooLong }: Question, parts: readonly Part[]): string {
  if (tooLong) return "length";
  return callsOf(parts).length > 0 ? "tool_calls" : "stop";
}

function head({ model }: Question) {
  return { id: "chatcmpl-scripted", created: 1_700_000_000, model };
}

function usage(question: Question, parts: readonly Part[]) {
  const { input, output, cacheRead } = spentOn(question, textOf(parts));
  const details = { prompt_tokens_details: { cached_tokens: cacheRead } };
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...details };
}
