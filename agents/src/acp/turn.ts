import { setTimeout as sleep } from "node:timers/promises";
import type {
  AgentContext,
  ContentBlock,
  PromptResponse,
  SessionUpdate,
  StopReason,
  ToolCallContent,
  ToolKind,
} from "@agentclientprotocol/sdk/unstable";
import { tokens } from "../model/conversation.ts";
import type { Session } from "./session.ts";

/** Delay between words: visible on a screen, short enough for tests. */
const WORD_MS = 15;

/** Size of the context window, in tokens. */
const CONTEXT_SIZE = 200_000;

export type Asked = { session: Session; client: AgentContext; prompt: string; blocks: readonly ContentBlock[]; signal: AbortSignal };
export type Tool = { title: string; kind: ToolKind; path?: string; input?: Record<string, unknown> };
export type Spent = { inputTokens: number; outputTokens: number; cachedReadTokens?: number; cachedWriteTokens?: number };

/** Ends a turn early, because it or one of its permission requests was cancelled. */
export class Cancelled extends Error {}

/** The actions of a turn: say, think, call tools, ask. Every update is stored, so that it can be replayed. */
export class Turn {
  readonly session: Session;
  readonly client: AgentContext;
  readonly signal: AbortSignal;
  readonly prompt: string;
  readonly blocks: readonly ContentBlock[];
  stopReason: StopReason = "end_turn";
  spent: Spent | undefined;
  cost: number | undefined;
  /** Report usage after the reply to the prompt, as some agents do. */
  usageLate = false;
  readonly #said: string[] = [];

  constructor({ session, client, signal, prompt, blocks }: Asked) {
    this.session = session;
    this.client = client;
    this.signal = signal;
    this.prompt = prompt;
    this.blocks = blocks;
  }

  get number(): number {
    return this.session.memory.turns().length;
  }

  check(): void {
    if (this.signal.aborted) throw new Cancelled();
  }

  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal }).catch(() => {});
    this.check();
  }

  /** The answer, or `Cancelled` if the turn is cancelled first: the client may never answer. */
  async orCancelled<T>(answer: Promise<T>): Promise<T> {
    this.check();
    const { promise, reject } = Promise.withResolvers<never>();
    const stop = () => reject(new Cancelled());
    this.signal.addEventListener("abort", stop, { once: true });
    answer.catch(() => {});
    try {
      return await Promise.race([answer, promise]);
    } finally {
      this.signal.removeEventListener("abort", stop);
    }
  }

  async say(text: string): Promise<void> {
    const line = this.#said.length > 0 ? `\n${text}` : text;
    this.#said.push(text);
    for (const word of line.match(/\s*\S+\s*/g) ?? [line]) {
      await this.tell(chunk("agent_message_chunk", word));
      if (!this.session.fast) await this.pause(WORD_MS);
    }
    this.session.memory.add({ update: chunk("agent_message_chunk", line) });
  }

  /** Sends `count` chunks: at an even rate if one is given, otherwise as fast as possible. */
  async stream(count: number, perSecond: number | undefined): Promise<void> {
    const began = performance.now();
    const words = Array.from({ length: count }, (_, index) => `${index + 1} `);
    for (const [index, word] of words.entries()) {
      const ahead = perSecond === undefined ? 0 : began + (index * 1000) / perSecond - performance.now();
      if (ahead > 1) await this.pause(ahead);
      // Without an occasional pause a cancellation would not be read.
      else if (index % 100 === 99) await this.pause(0);
      await this.tell(chunk("agent_message_chunk", word));
    }
    this.#said.push(words.join(""));
    this.session.memory.add({ update: chunk("agent_message_chunk", words.join("")) });
  }

  async show(update: SessionUpdate): Promise<void> {
    this.session.memory.add({ update });
    await this.tell(update);
  }

  think(text: string): Promise<void> {
    return this.show(chunk("agent_thought_chunk", text));
  }

  /** A tool call from start to end. An error is reported as a failure of the tool. `shown`: id of a call that is already shown. */
  async call(tool: Tool, does: (id: string) => Promise<ToolCallContent[]>, shown?: string): Promise<boolean> {
    const toolCallId = shown ?? this.session.callId();
    if (shown === undefined) await this.begin(toolCallId, tool, "in_progress");
    try {
      const content = await does(toolCallId);
      await this.finish(toolCallId, "completed", content);
      return true;
    } catch (error) {
      const cancelled = error instanceof Cancelled;
      await this.finish(toolCallId, "failed", [text(cancelled ? "cancelled" : messageOf(error))]);
      if (cancelled) throw error;
      await this.say(`${tool.title} failed: ${messageOf(error)}`);
      return false;
    }
  }

  begin(toolCallId: string, { title, kind, path, input }: Tool, status: "pending" | "in_progress"): Promise<void> {
    const locations = path === undefined ? [] : [{ path }];
    return this.show({ sessionUpdate: "tool_call", toolCallId, title, kind, status, locations, rawInput: input ?? {} });
  }

  finish(toolCallId: string, status: "completed" | "failed", content: ToolCallContent[]): Promise<void> {
    return this.show({ sessionUpdate: "tool_call_update", toolCallId, status, content });
  }

  /** Reports usage twice, as agents do: in an update of the context's use, and in the reply to the prompt. */
  async end(): Promise<PromptResponse> {
    const said = this.#said.join("\n");
    this.session.memory.add({ said });
    const turns = this.session.memory.turns();
    const used = turns.reduce((sum, turn) => sum + tokens(turn.prompt) + tokens(turn.said ?? ""), 0);
    const spent = this.spent ?? { inputTokens: used - tokens(said), outputTokens: tokens(said) };
    const cost = this.cost === undefined ? {} : { cost: { amount: this.cost, currency: "USD" } };
    const usage: SessionUpdate = { sessionUpdate: "usage_update", used, size: CONTEXT_SIZE, ...cost };
    if (this.usageLate) setTimeout(() => void this.tell(usage).catch(() => {}), 10);
    else await this.tell(usage);
    const totalTokens = Object.values(spent).reduce((sum, count) => sum + count, 0);
    return { stopReason: this.stopReason, usage: { ...spent, totalTokens } };
  }

  /** Reports usage with an empty text chunk, as qwen does. */
  async spend(inputTokens: number, outputTokens: number): Promise<void> {
    const { inputTokens: input = 0, outputTokens: output = 0 } = this.spent ?? {};
    this.spent = { inputTokens: input + inputTokens, outputTokens: output + outputTokens };
    const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    await this.tell({ ...chunk("agent_message_chunk", ""), _meta: { usage } });
  }

  /** Reports the cost during a turn, as claude-agent-acp and opencode do. */
  async pay(amount: number): Promise<void> {
    this.cost = amount;
    await this.tell({ sessionUpdate: "usage_update", used: 0, size: CONTEXT_SIZE, cost: { amount, currency: "USD" } });
  }

  tell(update: SessionUpdate): Promise<void> {
    return this.client.notify("session/update", { sessionId: this.session.id, update });
  }
}

export function text(value: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: value } };
}

function chunk(sessionUpdate: "agent_message_chunk" | "agent_thought_chunk", value: string): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text: value } };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
