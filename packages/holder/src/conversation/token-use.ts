/** The token usage that agents report, each in its own place. Null: not reported. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { PromptMeta } from "@holdfast/contract/agent/order";
import type { TokenUse } from "@holdfast/contract/conversation/transcript";
import { count, type Fields, fields } from "./told.ts";

type Tokens = Pick<TokenUse, "input" | "output" | "cacheRead" | "cacheWrite">;

/** The usage of one turn, as it is reported. */
export class TurnUse {
  /** Our own agents report everything at once. */
  #own: TokenUse | undefined;
  #tokens: Tokens | undefined;
  #context: TokenUse["context"] = null;
  #cost: number | null = null;
  /** The reported cost at the end of the previous turn. */
  #costBefore: number | null = null;
  /** The last reported fill of the context; null: none was reported yet. */
  #fill: number | null;
  /** Growth of the context in this turn. */
  #grown = 0;

  /** `isNew`: the conversation begins with an empty context. */
  constructor({ isNew }: { isNew: boolean }) {
    this.#fill = isNew ? 0 : null;
  }

  hear(update: SessionUpdate): boolean {
    const own = update.sessionUpdate === "agent_message_chunk" ? PromptMeta.safeParse(update._meta).data?.usage : undefined;
    if (own) this.#own = own;
    if (own) return true;
    if (update.sessionUpdate === "usage_update") {
      this.#context = contextOf(fields(update));
      if (this.#context !== null) this.#fillTo(this.#context.used);
      const { amount, currency } = fields(update.cost);
      if (currency === "USD" && typeof amount === "number" && amount >= 0) this.#cost = amount;
      return true;
    }
    const usage = update.sessionUpdate === "agent_message_chunk" ? tokensIn(update._meta) : undefined;
    if (usage) this.#tokens = this.#tokens ? sum(this.#tokens, usage) : usage;
    return usage !== undefined;
  }

  /** The turn's usage so far; undefined: nothing relevant was reported. */
  soFar(model: string | null): TokenUse | undefined {
    if (this.#own) return { ...this.#own, context: this.#own.context ?? this.#context };
    const tokens = this.#tokens ?? this.#estimate();
    const cost = this.#turnCost();
    return tokens || cost !== null ? { model, ...(tokens ?? NONE), cost, context: this.#context } : undefined;
  }

  /** Returns the turn's usage and starts the next turn; undefined: nothing was reported. */
  take(result: unknown, model: string | null): TokenUse | undefined {
    const own = PromptMeta.safeParse(fields(result)._meta).data?.usage ?? this.#own;
    // An agent that reports usage after its turn has reported the tokens with the answer.
    const tokens = own ?? tokensIn(result) ?? this.#tokens ?? (result === undefined ? undefined : this.#estimate());
    const cost = this.#turnCost();
    const context = this.#context;
    if (!tokens && context === null && cost === null) return undefined;
    if (this.#cost !== null) this.#costBefore = this.#cost;
    this.#own = undefined;
    this.#tokens = undefined;
    this.#cost = null;
    this.#context = null;
    this.#grown = 0;
    return own ? { ...own, context: own.context ?? context } : { model, ...(tokens ?? NONE), cost, context };
  }

  /** Most agents report the cost of the whole session. */
  #turnCost(): number | null {
    return this.#cost === null ? null : Math.max(0, this.#cost - (this.#costBefore ?? 0));
  }

  /** After compaction the context grows from its new size. */
  #fillTo(used: number): void {
    this.#grown += Math.max(0, used - (this.#fill ?? used));
    this.#fill = used;
  }

  /** Everything new in the context was either read for the first time or written. */
  #estimate(): (Tokens & { estimated: true }) | undefined {
    if (this.#grown === 0) return undefined;
    return { input: this.#grown, output: 0, cacheRead: 0, cacheWrite: 0, estimated: true };
  }
}

const NONE: Tokens = { input: null, output: null, cacheRead: null, cacheWrite: null };

function contextOf({ used, size }: Fields): TokenUse["context"] {
  const tokens = count(used);
  return tokens === null ? null : { used: tokens, size: count(size) || null };
}

/** Looks in the result of a prompt, in its `_meta`, and in that of a text chunk. */
function tokensIn(where: unknown): Tokens | undefined {
  const { usage, _meta, quota } = fields(where);
  const { usage: inner, quota: metaQuota } = fields(_meta);
  const found = [usage, inner, fields(metaQuota).token_count, fields(quota).token_count].find(
    (each) => Object.keys(fields(each)).length > 0,
  );
  if (found === undefined) return undefined;
  const of = fields(found);
  const tokens = {
    input: count(of.inputTokens, of.input_tokens, of.prompt_tokens, of.promptTokenCount),
    output: count(of.outputTokens, of.output_tokens, of.completion_tokens, of.candidatesTokenCount),
    cacheRead: count(of.cachedReadTokens, of.cached_read_tokens, of.cache_read_input_tokens, of.cachedContentTokenCount),
    cacheWrite: count(of.cachedWriteTokens, of.cached_write_tokens, of.cache_creation_input_tokens),
  };
  if (tokens.input === null && tokens.output === null) return undefined;
  // If the total accounts for all tokens, none was read from or written to a cache.
  const all = count(of.totalTokens, of.total_tokens);
  const isWhole = all !== null && all === (tokens.input ?? 0) + (tokens.output ?? 0);
  return isWhole ? { ...tokens, cacheRead: tokens.cacheRead ?? 0, cacheWrite: tokens.cacheWrite ?? 0 } : tokens;
}

function sum(a: Tokens, b: Tokens): Tokens {
  const add = (one: number | null, other: number | null) => (one === null && other === null ? null : count((one ?? 0) + (other ?? 0)));
  return {
    input: add(a.input, b.input),
    output: add(a.output, b.output),
    cacheRead: add(a.cacheRead, b.cacheRead),
    cacheWrite: add(a.cacheWrite, b.cacheWrite),
  };
}
