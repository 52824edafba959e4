/**
 * One request to the model, whose answer is passed on as it arrives. A temporary failure is reported and retried after a pause, but only before the
 * first part of the answer: printed text cannot be taken back.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { StopReason } from "@agentclientprotocol/sdk";
import type { TokenUse } from "@holdfast/contract/conversation/transcript";
import { type FinishReason, jsonSchema, type LanguageModelUsage, type ModelMessage, streamText, type ToolSet, tool as toolFor } from "ai";
import { say, type Turn } from "../context/turn.ts";
import { type Place, textChunk } from "../conversation.ts";
import { type Endpoint, modelAt } from "./endpoint.ts";
import { failureOf } from "./model-failure.ts";
import type { AgentTool } from "./tools/tool.ts";

/** For a longer pause a person would rather see the error than wait. */
const LONGEST_PAUSE_MS = 20_000;
const PAUSES_MS = [1000, 4000];

// Nobody sees the library's warnings about settings.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
  /** The reason why the call is invalid, if it is. */
  error: string | null;
}

type Counts = Pick<TokenUse, "input" | "output" | "cacheRead" | "cacheWrite">;

export interface StepAnswer {
  /** The answer in the form in which it is sent back to the model. */
  messages: ModelMessage[];
  /** Calls that need a result. */
  calls: ToolCall[];
  usage: Counts;
  stopReason: StopReason;
}

interface Question {
  endpoint: Endpoint;
  model: string;
  instructions: string;
  messages: ModelMessage[];
  tools: readonly AgentTool[];
  place: Place;
  turn: Turn;
  signal: AbortSignal;
}

export async function ask(question: Question): Promise<StepAnswer | "cancelled"> {
  const { endpoint, place, turn, signal } = question;
  for (let attempt = 0; ; attempt++) {
    const before = lengthOf(turn);
    try {
      return await answer(question);
    } catch (error) {
      if (signal.aborted) return "cancelled";
      const { failure, passing } = failureOf(error, endpoint);
      const pause = passing?.afterMs ?? PAUSES_MS[attempt] ?? 0;
      if (passing === null || attempt === PAUSES_MS.length || pause > LONGEST_PAUSE_MS || lengthOf(turn) !== before) throw failure;
      const title = `${failure.message}; retrying in ${Math.ceil(pause / 1000)} s`;
      await place.notice({ about: "retried", severity: "warning", title });
      await sleep(pause, undefined, { signal }).catch(() => {});
      if (signal.aborted) return "cancelled";
    }
  }
}

async function answer({
  endpoint,
  model,
  instructions,
  messages,
  tools,
  place,
  turn,
  signal,
}: Question): Promise<StepAnswer | "cancelled"> {
  const result = streamText({
    model: modelAt(endpoint, model),
    instructions: { role: "system", content: instructions, ...CACHED },
    messages: withCache(messages),
    tools: Object.fromEntries(tools.map((tool) => [tool.name, asOffered(tool)])) as ToolSet,
    maxRetries: 0,
    abortSignal: signal,
    // The error is handled where the stream is read.
    onError: () => {},
  });
  const calls: ToolCall[] = [];
  let usage: Counts = { input: null, output: null, cacheRead: null, cacheWrite: null };
  let reason: FinishReason = "other";
  for await (const part of result.stream) {
    if (part.type === "text-delta" && part.text !== "") {
      say(turn, part.text);
      await place.tell(textChunk("agent_message_chunk", part.text));
    }
    if (part.type === "reasoning-delta" && part.text !== "") await place.tell(textChunk("agent_thought_chunk", part.text));
    if (part.type === "tool-call")
      calls.push({ id: part.toolCallId, name: part.toolName, input: part.input, error: part.invalid ? wordsOf(part.error) : null });
    if (part.type === "finish-step") [usage, reason] = [countsOf(part.usage), part.finishReason];
    if (part.type === "abort") return "cancelled";
    if (part.type === "error") throw part.error;
  }
  const said = await result.responseMessages;
  // The library has already answered an invalid call; our result says the same, and is shown.
  return { messages: said.filter(({ role }) => role === "assistant"), calls, usage, stopReason: stopReasonOf(reason) };
}

function asOffered({ description, input, schema }: AgentTool) {
  return schema === undefined ? toolFor({ description, inputSchema: input }) : toolFor({ description, inputSchema: jsonSchema(schema) });
}

/** Anthropic caches everything up to this mark, at a tenth of the price. Other endpoints ignore it. */
const CACHED = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" as const } } } };

function withCache(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message, at) => (at === messages.length - 1 ? { ...message, ...CACHED } : message));
}

function countsOf({ inputTokens, outputTokens, inputTokenDetails: { cacheReadTokens, cacheWriteTokens } }: LanguageModelUsage): Counts {
  const [cacheRead, cacheWrite] = [cacheReadTokens ?? 0, cacheWriteTokens ?? 0];
  if (inputTokens === undefined) return { input: null, output: outputTokens ?? null, cacheRead: null, cacheWrite: null };
  return { input: Math.max(0, inputTokens - cacheRead - cacheWrite), output: outputTokens ?? null, cacheRead, cacheWrite };
}

function stopReasonOf(reason: FinishReason): StopReason {
  if (reason === "length") return "max_tokens";
  return reason === "content-filter" ? "refusal" : "end_turn";
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function lengthOf({ said }: Turn): number {
  return said.reduce((sum, each) => sum + (each.kind === "tool" ? 1 : each.text.length), 0);
}
