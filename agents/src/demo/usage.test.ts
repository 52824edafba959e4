import { expect, test } from "vitest";
import { parseUsage, usedBy } from "./usage.ts";

test.each([
  ["input=1000,output=200", { input: 1000, output: 200 }],
  ["model=gpt-5,cost=0.01,output=?", { model: "gpt-5", cost: 0.01, output: null }],
  ["model=?,context=10,contextSize=100", { model: null, context: 10, contextSize: 100 }],
])("--usage %s is valid", (text, given) => {
  expect(parseUsage(text)).toEqual(given);
});

test.each(["", "input", "input=-1", "input=many", "weight=3"])("--usage %j is invalid", (text) => {
  expect(parseUsage(text)).toBeUndefined();
});

test("by default a turn uses one token for every four characters", () => {
  expect(usedBy({ prompt: "12345678", said: "123" }, {})).toMatchObject({
    model: "demo",
    input: 2,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
  });
  expect(usedBy({ prompt: "12345678", said: "" }, { input: 7, model: null })).toMatchObject({ model: null, input: 7, output: 0 });
});
