import { expect, test } from "vitest";
import { PRICE_LIST } from "./price-list.ts";
import { Prices, readPrices } from "./prices.ts";

const million = { input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 1e6 };
const FILE = "config.toml";

test.each([
  ["claude-opus-4-5", 5],
  ["claude-opus-4-5-20251101", 5],
  ["Claude-Opus-4-5@20251101", 5],
  ["claude-opus-4-20250514", 15],
  ["claude-sonnet-5[1m]", 2],
  ["gpt-5", 1.25],
  ["gpt-5-2025-08-07", 1.25],
  ["gpt-5-mini", 0.25],
  ["gpt-5.4-mini-2026-03-01", 0.75],
  ["gemini-2.5-flash-lite-preview-09-2025", 0.1],
  ["gemini-2.5-pro:free", 1.25],
])("the input of %s costs %d dollars for a million tokens", (model, input) => {
  expect(new Prices().of(model)?.input).toBe(input);
});

test.each([
  ["a newer version is another model", "claude-opus-4-9"],
  ["a point makes another version", "gpt-5.9"],
  ["a longer word is another name", "gpt-55"],
  ["the model is unknown", "scripted"],
  ["the model is not named", null],
])("no price: %s", (_, model) => {
  expect(new Prices().of(model)).toBeUndefined();
  expect(new Prices().cost(model, million)).toBeNull();
});

test("the cost is the sum over all kinds of tokens", () => {
  expect(new Prices().cost("claude-sonnet-4-5", million)).toBeCloseTo(3 + 15 + 0.3 + 3.75);
  expect(new Prices().cost("claude-sonnet-4-5", { input: 1000, output: 100, cacheRead: 0, cacheWrite: 0 })).toBeCloseTo(0.0045);
});

test("an unknown token count or price makes the cost unknown; for zero tokens no price is needed", () => {
  const prices = new Prices();
  expect(prices.cost("claude-sonnet-4-5", { ...million, output: null })).toBeNull();
  expect(prices.cost("gpt-5", million)).toBeNull();
  expect(prices.cost("gpt-5", { ...million, cacheWrite: 0 })).toBeCloseTo(11.375);
  expect(prices.cost("gpt-5", { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })).toBe(0);
});

test("every price in the list is a number of dollars or null", () => {
  for (const price of Object.values(PRICE_LIST))
    for (const each of Object.values(price)) expect(each === null || (typeof each === "number" && each >= 0 && each < 1000)).toBe(true);
});

test("config.toml can change, add and zero prices; omitted prices of a known model stay", () => {
  const table = {
    "gpt-5": { output: 20 },
    scripted: { input: 1, output: 2, cache_read: 0.1, cache_write: 1 },
    "llama-": { input: 0, output: 0 },
  };
  const prices = readPrices({ table, file: FILE });
  expect(prices.of("gpt-5-2025-08-07")).toEqual({ ...PRICE_LIST["gpt-5"], output: 20 });
  expect(prices.cost("scripted", million)).toBeCloseTo(4.1);
  expect(prices.of("claude-opus-5")).toEqual(PRICE_LIST["claude-opus-5"]);
  expect(prices.of("llama-")).toEqual({ input: 0, output: 0, cacheRead: null, cacheWrite: null });
  expect(readPrices({ table: undefined, file: FILE }).of("gpt-5")).toEqual(PRICE_LIST["gpt-5"]);
});

test("the longest known name that a model begins with counts", () => {
  const prices = readPrices({ table: { big: { input: 1 }, "big-model": { input: 2 }, "big-model-x": { input: 3 } }, file: FILE });
  expect(["big-other", "big-model-2026-01-01", "big-model-x:free"].map((model) => prices.of(model)?.input)).toEqual([1, 2, 3]);
});

test.each([
  [{ "gpt-5": { output: "10" } }, 'config.toml: prices."gpt-5".output is not a price: "10"'],
  [{ "gpt-5": { input: -1 } }, 'config.toml: prices."gpt-5".input is not a price: -1'],
  [{ "gpt-5": { input: Number.NaN } }, 'config.toml: prices."gpt-5".input is not a price: null'],
  [{ "gpt-5": 3 }, 'config.toml: prices."gpt-5" is not a table'],
  [[], "config.toml: prices is not a table"],
])("%j is refused with the key's name", (table, message) => {
  expect(() => readPrices({ table, file: FILE })).toThrow(message);
});
