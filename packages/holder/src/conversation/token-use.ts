/** What agents tell of the tokens they used, each in its own place. Null: it does not say. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { PromptMeta } from "@holdfast/contract/agent-order";
import type { TokenUse } from "@holdfast/contract/transcript";
import { count, type Fields, fields } from "./told.ts";

type Tokens = Pick<TokenUse, "input" | "output" | "cacheRead" | "cacheWrite">;

/** Of a turn, as it comes in. */
export class TurnUse {
  /** Our own agents tell everything at once. */
  #own: TokenUse | undefined;
  #tokens: Tokens | undefined;
  #context: TokenUse["context"] = null;
  #cost: number | null = null;
  /** What the agent had told of its costs before. */
  #costBefore: number | null = null;
  /** How full the context was last; null: the agent did not say yet. */
  #fill: number | null;
  /** How much the context has grown in this turn. */
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

  /** What the turn took up to now; undefined: nothing that counts was told. */
  soFar(model: string | null): TokenUse | undefined {
    if (this.#own) return { ...this.#own, context: this.#own.context ?? this.#context };
    const tokens = this.#tokens ?? this.#estimate();
    const cost = this.#turnCost();
    return tokens || cost !== null ? { model, ...(tokens ?? NONE), cost, context: this.#context } : undefined;
  }

  /** What the turn took, and begins the next; undefined: nothing was told. */
  take(result: unknown, model: string | null): TokenUse | undefined {
    const own = PromptMeta.safeParse(fields(result)._meta).data?.usage ?? this.#own;
    // An agent that tells its use once its turn is over has told the tokens with the answer.
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

  /** Most agents tell what the whole session cost. */
  #turnCost(): number | null {
    return this.#cost === null ? null : Math.max(0, this.#cost - (this.#costBefore ?? 0));
  }

  /** A context that is compacted grows again from there. */
  #fillTo(used: number): void {
    this.#grown += Math.max(0, used - (this.#fill ?? used));
    this.#fill = used;
  }

  /** Whatever is new in the context was read for the first time, or written. */
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

/** In the result of a prompt, its `_meta`, or that of a piece of text. */
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
  // Where all of them are accounted for, none came from a cache or went to one.
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
