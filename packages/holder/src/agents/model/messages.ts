/** Converts turns to messages for a model. Earlier turns are always converted the same way, so that endpoints can cache them. */
import type { ModelMessage, ToolResultPart } from "ai";
import type { Kept } from "../context/kept.ts";
import { bytesOf } from "../context/tokens.ts";
import { cutShort, type ToolUse, type Turn } from "../context/turn.ts";
import { toolFor } from "./tools/index.ts";

export function messagesOf({ first, last, leftOut }: Kept, now: readonly ModelMessage[]): ModelMessage[] {
  const after = [...last.flatMap(messagesOfTurn), ...now];
  const begin = after[0];
  if (leftOut !== null && begin?.role === "user" && typeof begin.content === "string")
    after[0] = {
      role: "user",
      content: `[Turns omitted here: ${leftOut.to - leftOut.from + 1}.]\n\n${begin.content}`,
    };
  return [...first.flatMap(messagesOfTurn), ...after];
}

export function messagesOfTurn(turn: Turn): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: "user", content: turn.prompt }];
  const answer = new Answer(messages);
  for (const each of turn.said) {
    if (each.kind === "text") answer.say(each.text);
    if (each.kind === "tool") answer.use(each);
    if (each.kind === "steer") answer.interrupt(each.text);
  }
  answer.say(cutShort(turn) ?? "");
  answer.finish();
  return messages;
}

type Content = Exclude<Extract<ModelMessage, { role: "assistant" }>["content"], string>;

/** Collects the model's output until something comes between: then it becomes a message, followed by a message with the results of its tools. */
class Answer {
  readonly #messages: ModelMessage[];
  #content: Content = [];
  #results: ToolResultPart[] = [];

  constructor(messages: ModelMessage[]) {
    this.#messages = messages;
  }

  say(text: string): void {
    if (text.trim() === "") return;
    if (this.#results.length > 0) this.finish();
    this.#content.push({ type: "text", text });
  }

  use(use: ToolUse): void {
    const { title, input, output, ok } = use;
    const toolName = nameOf(use);
    // A tool of another agent, which this model does not have.
    if (toolName === undefined) {
      this.say(`[A tool was used: ${title}${ok === false ? " (failed)" : ""}]`);
      return;
    }
    const toolCallId = idOf(use.id);
    this.#content.push({ type: "tool-call", toolCallId, toolName, input });
    this.#results.push(resultOf({ toolCallId, toolName, text: output || (ok === null ? "[interrupted]" : "done"), ok: ok === true }));
  }

  interrupt(text: string): void {
    this.finish();
    this.#messages.push({ role: "user", content: text });
  }

  finish(): void {
    if (this.#content.length > 0) this.#messages.push({ role: "assistant", content: this.#content });
    if (this.#results.length > 0) this.#messages.push({ role: "tool", content: this.#results });
    this.#content = [];
    this.#results = [];
  }
}

export function resultOf({
  toolCallId,
  toolName,
  text,
  ok,
}: {
  toolCallId: string;
  toolName: string;
  text: string;
  ok: boolean;
}): ToolResultPart {
  return { type: "tool-result", toolCallId, toolName, output: { type: ok ? "text" : "error-text", value: text } };
}

/** The own name of a server's tool; for other tools, the matching built-in one. */
function nameOf({ name, tool: kind, input }: ToolUse): string | undefined {
  if (name?.startsWith("mcp__")) return typeof input === "object" && input !== null ? name : undefined;
  return toolFor(kind, input)?.name;
}

/** Some endpoints accept no other characters. */
function idOf(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, "_");
}

export function bytesOfMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce(
    (sum, { content }) => sum + (typeof content === "string" ? bytesOf(content) : bytesOf(JSON.stringify(content))),
    0,
  );
}

/**
 * Shortens a turn that has become too large on its own, by omitting the results of its first tools as far as needed. The last message stays
 * complete. `leftOut` is the number of omitted results.
 */
export function shortened(now: readonly ModelMessage[], tooMany: number): { messages: ModelMessage[]; leftOut: number } {
  let bytes = tooMany;
  let leftOut = 0;
  const messages = now.map((message, at): ModelMessage => {
    if (message.role !== "tool" || at === now.length - 1) return message;
    const content = message.content.map((part) => {
      if (bytes <= 0 || part.type !== "tool-result" || !("value" in part.output) || typeof part.output.value !== "string") return part;
      const value = "[Omitted to save space. Use the tool again if you need it.]";
      const saved = bytesOf(part.output.value) - bytesOf(value);
      if (saved <= 0) return part;
      bytes -= saved;
      leftOut++;
      return { ...part, output: { type: "text" as const, value } };
    });
    return { ...message, content };
  });
  return { messages, leftOut };
}
