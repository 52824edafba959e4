/** Model prices: the list that comes with Holdfast, changed and extended by config.toml. */
import type { KnownKeys, Setting } from "@holdfast/contract";
import { WrongSetting } from "@holdfast/platform";
import { PRICE_LIST, type Price } from "./price-list.ts";

const KEYS = { input: "input", output: "output", cache_read: "cacheRead", cache_write: "cacheWrite" } as const;

const price = (key: keyof typeof KEYS, what: string): Setting => ({
  about: `The price of ${what}, in US dollars for a million tokens. Default: the price list of Holdfast, where it has the model.`,
  takes: "a number of at least 0",
  usual: null,
  example: `${key} = 3.0`,
});

export const PRICE_KEYS = {
  input: price("input", "input tokens"),
  output: price("output", "output tokens"),
  cache_read: price("cache_read", "tokens read from the cache"),
  cache_write: price("cache_write", "tokens written to the cache"),
} as const satisfies KnownKeys;

/** Null: unknown. */
export interface Tokens {
  input: number | null;
  output: number | null;
  cacheRead: number | null;
  cacheWrite: number | null;
}

export class Prices {
  readonly #prices: ReadonlyMap<string, Price>;

  constructor(own: Readonly<Record<string, Price>> = {}) {
    this.#prices = new Map(Object.entries({ ...PRICE_LIST, ...own }).map(([model, price]) => [model.toLowerCase(), price]));
  }

  /** Looks up the exact name, else the longest known name of which the model is a variant. */
  of(model: string | null): Price | undefined {
    if (model === null) return undefined;
    const name = model.toLowerCase();
    const exact = this.#prices.get(name);
    if (exact) return exact;
    const [best] = [...this.#prices.keys()].filter((known) => isVariant(name, known)).sort((a, b) => b.length - a.length);
    return best === undefined ? undefined : this.#prices.get(best);
  }

  /** In US dollars; null if a needed price or token count is unknown. */
  cost(model: string | null, tokens: Tokens): number | null {
    const price = this.of(model);
    if (!price) return null;
    let sum = 0;
    for (const kind of Object.values(KEYS)) {
      const [count, each] = [tokens[kind], price[kind]];
      if (count === 0) continue;
      if (count === null || each === null) return null;
      sum += count * each;
    }
    return sum / 1e6;
  }
}

/** `gpt-5-2025-08-07` is a variant of `gpt-5`; `gpt-5.1` and `claude-opus-4-6` are not variants of `gpt-5` and `claude-opus-4`. */
function isVariant(model: string, known: string): boolean {
  return model.startsWith(known) && /^(?:-(?!\d{1,2}(?!\d))|[@:[/])/.test(model.slice(known.length));
}

/** For a price that config.toml leaves out, the list's price of exactly that name counts. */
export function readPrices({ table, file }: { table: unknown; file: string }): Prices {
  if (table === undefined) return new Prices();
  const own = Object.entries(tableOf(table, { file, path: "prices" })).map(([model, value]): [string, Price] => {
    const path = `prices.${JSON.stringify(model)}`;
    const values = tableOf(value, { file, path });
    const price: Price = { ...(PRICE_LIST[model] ?? { input: null, output: null, cacheRead: null, cacheWrite: null }) };
    for (const [key, kind] of Object.entries(KEYS)) {
      const given = values[key];
      if (given === undefined) continue;
      if (typeof given !== "number" || !(given >= 0)) {
        const hint = `in dollars per million tokens, for example: ${key} = 3.0`;
        throw new WrongSetting({ file, key: `${path}.${key}`, what: `is not a price: ${JSON.stringify(given)}`, hint });
      }
      price[kind] = given;
    }
    return [model, price];
  });
  return new Prices(Object.fromEntries(own));
}

function tableOf(value: unknown, { file, path }: { file: string; path: string }): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new WrongSetting({ file, key: path, what: "is not a table", hint: 'for example: [prices."my-model"]' });
}
