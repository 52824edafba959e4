/**
 * Model prices in US dollars for a million tokens, as of November 2026: input, output, cache read, cache write. Null: no such price, or unknown. A
 * model named like one of these plus a date or a variant costs the same. config.toml overrides the list. It does not cover surcharges for very long
 * prompts, tiers, batches or subscriptions.
 */
export interface Price {
  input: number | null;
  output: number | null;
  cacheRead: number | null;
  cacheWrite: number | null;
}

const price = (input: number, output: number, cacheRead: number | null, cacheWrite: number | null = null): Price => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

export const PRICE_LIST: Readonly<Record<string, Price>> = {
  // Holdfast's scripted agent calls no model.
  demo: price(0, 0, 0, 0),

  // https://platform.claude.com/docs/en/about-claude/pricing; cache writes for five minutes.
  "claude-fable-5-1": price(10, 50, 0.25, 12.5),
  "claude-fable-5": price(10, 50, 1, 12.5),
  "claude-opus-5-5": price(4, 20, 0.2, 5),
  "claude-opus-5": price(5, 25, 0.5, 6.25),
  "claude-opus-4-8": price(5, 25, 0.5, 6.25),
  "claude-opus-4-7": price(5, 25, 0.5, 6.25),
  "claude-opus-4-6": price(5, 25, 0.5, 6.25),
  "claude-opus-4-5": price(5, 25, 0.5, 6.25),
  "claude-opus-4-1": price(15, 75, 1.5, 18.75),
  "claude-opus-4": price(15, 75, 1.5, 18.75),
  "claude-sonnet-5-5": price(2, 10, 0.1, 2.5),
  "claude-sonnet-5": price(2, 10, 0.2, 2.5),
  "claude-sonnet-4-6": price(3, 15, 0.3, 3.75),
  "claude-sonnet-4-5": price(3, 15, 0.3, 3.75),
  "claude-sonnet-4": price(3, 15, 0.3, 3.75),
  "claude-3-7-sonnet": price(3, 15, 0.3, 3.75),
  "claude-haiku-4-5": price(1, 5, 0.1, 1.25),
  "claude-3-5-haiku": price(0.8, 4, 0.08, 1),

  // https://developers.openai.com/api/docs/pricing; before 5.6, cache writes count as input.
  "gpt-5.6-sol": price(5, 30, 0.5, 6.25),
  "gpt-5.6-terra": price(2, 12, 0.2, 2.5),
  "gpt-5.6-luna": price(0.2, 1.2, 0.02, 0.25),
  "gpt-5.5": price(5, 30, 0.5),
  "gpt-5.4": price(2.5, 15, 0.25),
  "gpt-5.4-mini": price(0.75, 4.5, 0.075),
  "gpt-5.4-nano": price(0.2, 1.25, 0.02),
  "gpt-5.3-codex": price(1.75, 14, 0.175),
  "gpt-5.2": price(1.75, 14, 0.175),
  "gpt-5.2-codex": price(1.75, 14, 0.175),
  "gpt-5.1": price(1.25, 10, 0.125),
  "gpt-5.1-codex": price(1.25, 10, 0.125),
  "gpt-5.1-codex-mini": price(0.25, 2, 0.025),
  "gpt-5": price(1.25, 10, 0.125),
  "gpt-5-codex": price(1.25, 10, 0.125),
  "gpt-5-mini": price(0.25, 2, 0.025),
  "gpt-5-nano": price(0.05, 0.4, 0.005),
  "gpt-4.1": price(2, 8, 0.5),
  "gpt-4.1-mini": price(0.4, 1.6, 0.1),
  "gpt-4o": price(2.5, 10, 1.25),
  "gpt-4o-mini": price(0.15, 0.6, 0.075),
  "codex-mini-latest": price(1.5, 6, 0.375),

  // https://ai.google.dev/gemini-api/docs/pricing; prompts of up to 200,000 tokens.
  "gemini-3.7-flash": price(0.75, 3.75, 0.075),
  "gemini-3.6-flash": price(0.75, 3.75, 0.075),
  "gemini-3.5-flash": price(1.5, 9, 0.15),
  "gemini-3.1-pro": price(2, 12, 0.2),
  "gemini-3-pro": price(2, 12, 0.2),
  "gemini-2.5-pro": price(1.25, 10, 0.125),
  "gemini-2.5-flash": price(0.3, 2.5, 0.03),
  "gemini-2.5-flash-lite": price(0.1, 0.4, 0.01),

  // https://www.alibabacloud.com/help/en/model-studio/models; prompts of up to 32,000 tokens.
  "qwen3-coder-plus": price(1, 5, 0.2),
  "qwen3-coder-flash": price(0.3, 1.5, 0.06),
};
