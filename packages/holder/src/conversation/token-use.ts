/** What agents tell of the tokens they used, each in its own place. Null: it does not say. */
import type { SessionUpdate, UsageUpdate } from "@agentclientprotocol/sdk";
import { PromptMeta } from "@holdfast/contract/agent-order";
import type { TokenUse } from "@holdfast/contract/transcript";

type Tokens = Pick<TokenUse, "input" | "output" | "cacheRead" | "cacheWrite">;

/** Of a turn, as it comes in. */
export class TurnUse {
  #tokens: Tokens | undefined;
  #context: TokenUse["context"] = null;
  #cost: number | null = null;
  /** What the agent had told of its costs before. */
  #costBefore: number | null = null;

  hear(update: SessionUpdate): boolean {
    if (update.sessionUpdate === "usage_update") {
      this.#context = contextOf(update);
      if (update.cost?.currency === "USD") this.#cost = update.cost.amount;
      return true;
    }
    const usage = update.sessionUpdate === "agent_message_chunk" ? tokensIn(update._meta) : undefined;
    if (usage) this.#tokens = this.#tokens ? sum(this.#tokens, usage) : usage;
    return usage !== undefined;
  }

  /** What the turn took, and begins the next; undefined: nothing was told. */
  take(result: unknown, model: string | null): TokenUse | undefined {
    const own = PromptMeta.safeParse(record(result)._meta).data?.usage;
    const tokens = own ?? tokensIn(result) ?? this.#tokens;
    // What a whole session cost so far is what most tell.
    const cost = this.#cost === null ? null : Math.max(0, this.#cost - (this.#costBefore ?? 0));
    const context = this.#context;
    if (!tokens && context === null && cost === null) return undefined;
    if (this.#cost !== null) this.#costBefore = this.#cost;
    this.#tokens = undefined;
    this.#cost = null;
    this.#context = null;
    return own ? { ...own, context: own.context ?? context } : { model, ...(tokens ?? NONE), cost, context };
  }
}

const NONE: Tokens = { input: null, output: null, cacheRead: null, cacheWrite: null };

function contextOf({ used, size }: UsageUpdate): TokenUse["context"] {
  return { used: Math.round(used), size: size > 0 ? Math.round(size) : null };
}

/** In the result of a prompt, its `_meta`, or that of a piece of text. */
function tokensIn(where: unknown): Tokens | undefined {
  const { usage, _meta, quota } = record(where);
  const { usage: inner, quota: metaQuota } = record(_meta);
  const found = [usage, inner, record(metaQuota).token_count, record(quota).token_count].find(
    (each) => Object.keys(record(each)).length > 0,
  );
  if (found === undefined) return undefined;
  const of = record(found);
  const tokens = {
    input: number(of.inputTokens, of.input_tokens, of.prompt_tokens, of.promptTokenCount),
    output: number(of.outputTokens, of.output_tokens, of.completion_tokens, of.candidatesTokenCount),
    cacheRead: number(of.cachedReadTokens, of.cached_read_tokens, of.cache_read_input_tokens, of.cachedContentTokenCount),
    cacheWrite: number(of.cachedWriteTokens, of.cached_write_tokens, of.cache_creation_input_tokens),
  };
  if (tokens.input === null && tokens.output === null) return undefined;
  // Where all of them are accounted for, none came from a cache or went to one.
  const all = number(of.totalTokens, of.total_tokens);
  const isWhole = all !== null && all === (tokens.input ?? 0) + (tokens.output ?? 0);
  return isWhole ? { ...tokens, cacheRead: tokens.cacheRead ?? 0, cacheWrite: tokens.cacheWrite ?? 0 } : tokens;
}

function sum(a: Tokens, b: Tokens): Tokens {
  const add = (one: number | null, other: number | null) => (one === null && other === null ? null : (one ?? 0) + (other ?? 0));
  return {
    input: add(a.input, b.input),
    output: add(a.output, b.output),
    cacheRead: add(a.cacheRead, b.cacheRead),
    cacheWrite: add(a.cacheWrite, b.cacheWrite),
  };
}

function number(...values: unknown[]): number | null {
  const found = values.find((value) => typeof value === "number" && Number.isFinite(value) && value >= 0);
  return found === undefined ? null : Math.round(found as number);
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
