/** An open conversation: the order of its turns, their cancellation, and `/clear`. */
import type { ContentBlock, PromptResponse } from "@agentclientprotocol/sdk";
import type { PromptMeta } from "@holdfast/contract/agent/order";
import type { TokenUse } from "@holdfast/contract/conversation/transcript";
import type * as z from "zod/mini";
import { CLEAR } from "./context/turn.ts";
import type { Conversation, Place, TurnResult } from "./conversation.ts";
import { CLEARED } from "./notices.ts";

export class OpenSession {
  readonly conversation: Conversation;
  readonly #place: Place;
  #running: Promise<PromptResponse> | undefined;
  /** For the running turn and those that wait. */
  readonly #endings = new Set<AbortController>();

  constructor(conversation: Conversation, place: Place) {
    this.conversation = conversation;
    this.#place = place;
  }

  /** Turns run in the order of their arrival. A prompt that arrives during a turn is added to it if the agent can be steered. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const text = textOf(blocks);
    const before = this.#running;
    if (before && text.trim() !== CLEAR && this.conversation.steer?.(text)) return before;
    const ending = new AbortController();
    this.#endings.add(ending);
    const running = (async () => {
      await before?.catch(() => {});
      return this.#turn(text, AbortSignal.any([signal, ending.signal]));
    })();
    this.#running = running;
    try {
      return await running;
    } finally {
      this.#endings.delete(ending);
      if (this.#running === running) this.#running = undefined;
    }
  }

  /** Cancels the running turn and the waiting ones. */
  cancel(): void {
    for (const ending of this.#endings) ending.abort();
  }

  /** Ends everything; nothing of the conversation runs afterwards. */
  async close(): Promise<void> {
    this.cancel();
    await this.#running?.catch(() => {});
    await this.conversation.close?.();
  }

  async #turn(text: string, signal: AbortSignal): Promise<PromptResponse> {
    if (signal.aborted) return { stopReason: "cancelled" };
    if (text.trim() !== CLEAR) return responseOf(await this.conversation.turn(text, signal));
    this.conversation.clear();
    await this.#place.notice(CLEARED);
    return { stopReason: "end_turn" };
  }
}

export const NOTHING: TokenUse = { model: null, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: null, context: null };

/** Usage in Holdfast's form and in that of the protocol's draft. */
function responseOf({ stopReason, usage }: TurnResult): PromptResponse {
  const _meta: z.infer<typeof PromptMeta> = { usage };
  if (usage.input === null || usage.output === null) return { stopReason, _meta };
  const counts = {
    inputTokens: usage.input,
    outputTokens: usage.output,
    cachedReadTokens: usage.cacheRead,
    cachedWriteTokens: usage.cacheWrite,
  };
  const totalTokens = Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return Object.assign({ stopReason, _meta }, { usage: { ...counts, totalTokens } });
}

function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.map(textOfBlock).join("\n");
}

function textOfBlock(block: ContentBlock): string {
  if (block.type === "text") return block.text;
  if (block.type === "resource_link") return `@${block.uri.replace(/^file:\/\//, "")}`;
  if (block.type === "resource" && "text" in block.resource) return `@${block.resource.uri}:\n${block.resource.text}`;
  return `[${block.type}: the agent accepts only text]`;
}
