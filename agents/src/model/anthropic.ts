/** Anthropic messages: claude. */
import {
  argumentsOf,
  list,
  type Message,
  type Part,
  type Question,
  record,
  type Schema,
  spentOn,
  string,
  withoutReminders,
} from "./conversation.ts";
import { callsOf, type Dialect, secondsFromNow, sse, textOf, wordsFor } from "./dialect.ts";
import type { Failure } from "./reply.ts";

const TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

export const anthropic: Dialect = {
  name: "anthropic",
  asks: (path) => path.endsWith("/messages"),
  read(body) {
    const messages = list(body.messages);
    const format = record(record(body.output_config).format);
    return {
      model: string(body.model),
      system: [body, ...messages.filter(isSystem)].map((each) => textIn(each.system ?? each.content)).join("\n"),
      messages: messages.filter((each) => !isSystem(each)).flatMap((each) => readMessage(each, messages)),
      tools: list(body.tools).map((tool) => ({ name: string(tool.name), schema: record(tool.input_schema) as Schema })),
      stream: body.stream === true,
      ...(format.type === "json_schema" ? { schema: record(format.schema) as Schema } : {}),
    };
  },
  stream(question) {
    let block = 0;
    let inText = false;
    const close = () => {
      if (!inText) return "";
      inText = false;
      return event("content_block_stop", { index: block++ });
    };
    return {
      start: () =>
        event("message_start", {
          message: { ...head(question), content: [], stop_reason: null, stop_sequence: null, usage: usage(question, []) },
        }) + event("ping", {}),
      part(part) {
        if ("text" in part) {
          const open = inText ? "" : event("content_block_start", { index: block, content_block: { type: "text", text: "" } });
          inText = true;
          return open + event("content_block_delta", { index: block, delta: { type: "text_delta", text: part.text } });
        }
        const { id, name } = part.call;
        return (
          close() +
          event("content_block_start", { index: block, content_block: { type: "tool_use", id: toolUse(id), name, input: {} } }) +
          event("content_block_delta", { index: block, delta: { type: "input_json_delta", partial_json: argumentsOf(part.call) } }) +
          event("content_block_stop", { index: block++ })
        );
      },
      end: (parts) =>
        close() +
        event("message_delta", { delta: { stop_reason: stop(question, parts), stop_sequence: null }, usage: usage(question, parts) }) +
        event("message_stop", {}),
    };
  },
  whole(question, parts) {
    const said = textOf(parts);
    const content = [
      ...(said === "" ? [] : [{ type: "text", text: said }]),
      ...callsOf(parts).map(({ id, name, arguments: input, garbled }) => ({
        type: "tool_use",
        id: toolUse(id),
        name,
        input: garbled ?? input,
      })),
    ];
    return { ...head(question), content, stop_reason: stop(question, parts), stop_sequence: null, usage: usage(question, parts) };
  },
  failure,
  broken: (failed) => sse(failure(failed), "error"),
  headers({ resetsIn }) {
    if (resetsIn === undefined) return {};
    const at = String(secondsFromNow(resetsIn));
    const limit = { status: "rejected", reset: at, "representative-claim": "five_hour", "5h-status": "rejected", "5h-reset": at };
    return Object.fromEntries(Object.entries(limit).map(([name, value]) => [`anthropic-ratelimit-unified-${name}`, value]));
  },
};

function failure({ status, overflow }: Failure) {
  const message = overflow ? "prompt is too long: 250000 tokens > 200000 maximum" : wordsFor(status);
  return { type: "error", error: { type: TYPES[status] ?? "api_error", message } };
}

/** Claude sends its model information about the machine in the middle of the conversation. */
function isSystem({ role }: Record<string, unknown>): boolean {
  return role === "system";
}

/** A user message may contain tool results and later text of the user. */
function readMessage(message: Record<string, unknown>, all: readonly Record<string, unknown>[]): Message[] {
  const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : list(message.content);
  if (message.role === "assistant") {
    const calls = blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id: string(id), name: string(name), arguments: record(input) }));
    return [{ from: "model", text: textIn(blocks), calls }];
  }
  const results = blocks
    .filter(({ type }) => type === "tool_result")
    .map((block): Message => {
      const call = string(block.tool_use_id);
      return { from: "tool", call, name: nameOf(call, all), text: withoutReminders(textIn(block.content)) };
    });
  const texts = blocks.filter(({ type }) => type === "text").map(({ text }) => withoutReminders(string(text)));
  const said = texts.findLast((text) => text !== "");
  // Claude Code's own text after a search for tools is not the user's.
  const isOwn = results.length > 0 && said?.trim() === "Tool loaded.";
  return said === undefined || isOwn ? results : [...results, { from: "user", text: said }];
}

function nameOf(id: string, all: readonly Record<string, unknown>[]): string {
  return string(all.flatMap(({ content }) => list(content)).find((block) => block.id === id)?.name);
}

function textIn(content: unknown): string {
  return typeof content === "string"
    ? content
    : list(content)
        .map(({ text }) => string(text))
        .join("\n");
}

function event(type: string, data: Record<string, unknown>): string {
  return sse({ type, ...data }, type);
}

/** Claude merges all messages with the same id, whatever came in between, so each needs a new one. */
function head({ model }: Question) {
  lastMessage++;
  return { id: `msg_scripted_${lastMessage}`, type: "message", role: "assistant", model };
}

let lastMessage = 0;

function toolUse(id: string): string {
  return `toolu_${id}`;
}

function stop({ tooLong }: Question, parts: readonly Part[]): string {
  if (tooLong) return "max_tokens";
  return callsOf(parts).length > 0 ? "tool_use" : "end_turn";
}

function usage(question: Question, parts: readonly Part[]) {
  const { input, output, cacheRead, cacheWrite } = spentOn(question, textOf(parts));
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  };
}
