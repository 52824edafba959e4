import { APICallError, StreamProviderError } from "ai";
import { expect, test } from "vitest";
import { Gauge } from "../context/tokens.ts";
import { AgentFailure, asRequestError } from "../failure.ts";
import { endpointOf } from "./endpoint.ts";
import { failureOf, retryAfter } from "./model-failure.ts";

const nothing = { api: null, endpoint: null, model: null, keyEnv: null, keyHeader: null };
const endpoint = endpointOf(nothing, { OPENAI_API_KEY: "k" });

const refusal = (statusCode: number, message: string, responseHeaders: Record<string, string> = {}) =>
  failureOf(new APICallError({ message, statusCode, responseHeaders, url: endpoint.url, requestBodyValues: {} }), endpoint);

test("the delay before a retry is read from seconds, milliseconds or a date, and may be missing", () => {
  expect(retryAfter({ "retry-after": "2" })).toBe(2000);
  expect(retryAfter({ "retry-after-ms": "250", "retry-after": "2" })).toBe(250);
  expect(retryAfter({ "retry-after": new Date(Date.now() + 60_000).toUTCString() })).toBeGreaterThan(50_000);
  expect(retryAfter({ "retry-after": new Date(0).toUTCString() })).toBe(0);
  expect(retryAfter({ "retry-after": "soon" })).toBeNull();
  expect(retryAfter(undefined)).toBeNull();
});

test("temporary refusals are distinguished from permanent ones", () => {
  expect(refusal(429, "slow down", { "retry-after": "3" })).toMatchObject({
    failure: { code: "rate_limited" },
    passing: { afterMs: 3000 },
  });
  expect(refusal(429, "You exceeded your current quota")).toMatchObject({
    failure: { hint: expect.stringContaining("credit is used up") },
    passing: null,
  });
  expect(refusal(503, "overloaded")).toMatchObject({ failure: { code: "model_failed", retry: true }, passing: { afterMs: null } });
  expect(refusal(403, "no")).toMatchObject({ failure: { code: "unauthenticated" }, passing: null });
  expect(refusal(413, "prompt is too long: 300000 tokens")).toMatchObject({ failure: { code: "context_full" }, passing: null });
  expect(refusal(400, "x".repeat(1000)).failure.message.length).toBeLessThan(400);
});

test("an error in the middle of an answer is mapped to a code, whatever its form", () => {
  const told = (error: unknown) => failureOf(error, endpoint).failure;
  expect(told({ type: "rate_limit_error", message: "slow down" })).toMatchObject({
    code: "rate_limited",
    message: "api.openai.com broke off: slow down",
  });
  expect(told({ type: "authentication_error", message: "no" })).toMatchObject({
    code: "unauthenticated",
    hint: expect.stringContaining("OPENAI_API_KEY"),
  });
  expect(told("overloaded")).toMatchObject({ code: "model_failed", message: "api.openai.com broke off: overloaded" });
  expect(told({ odd: true })).toMatchObject({ code: "model_failed", message: 'api.openai.com broke off: {"odd":true}' });
  const stream = (type: string, statusCode?: number) => told(new StreamProviderError({ message: "no", type, statusCode } as never));
  expect(stream("overloaded_error", 529)).toMatchObject({ code: "model_failed", message: "api.openai.com broke off: no" });
  expect(stream("rate_limit_error", 429)).toMatchObject({ code: "rate_limited" });
  expect(stream("authentication_error")).toMatchObject({ code: "unauthenticated" });
  const own = new AgentFailure("usage", "mine", { hint: "h", retry: false });
  expect(told(own)).toBe(own);
});

test("a failed connection is reported with its innermost cause", () => {
  const refused = Object.assign(new Error(""), { code: "ECONNREFUSED" });
  const { failure } = failureOf(new TypeError("fetch failed", { cause: new AggregateError([refused]) }), endpoint);
  expect(failure).toMatchObject({ code: "network_failed", message: "the connection to api.openai.com failed: ECONNREFUSED" });
  const outer = new APICallError({
    message: "Failed to process successful response",
    statusCode: 200,
    url: endpoint.url,
    requestBodyValues: {},
    cause: new TypeError("terminated"),
  });
  expect(failureOf(outer, endpoint).failure).toMatchObject({ code: "network_failed", message: expect.stringContaining("terminated") });
});

test("an unexpected error is internal and can be retried", () => {
  expect(asRequestError(new Error("odd"))).toMatchObject({ code: -32603, message: "odd", data: { code: "internal", retry: true } });
  expect(asRequestError("odder")).toMatchObject({ message: "odder" });
});

test("the endpoint, key and model follow from the environment and the order", () => {
  const of = (env: Record<string, string>, order: Partial<typeof nothing> = {}) => endpointOf({ ...nothing, ...order }, env);
  expect(of({})).toMatchObject({ api: "openai", url: "https://api.openai.com/v1", model: null, key: null });
  expect(of({ ANTHROPIC_API_KEY: "a" })).toMatchObject({
    api: "anthropic",
    url: "https://api.anthropic.com/v1",
    key: "a",
    keyHeader: null,
  });
  expect(of({ ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o" })).toMatchObject({ api: "openai", key: "o" });
  expect(of({ ANTHROPIC_MODEL: "claude", OPENAI_API_KEY: "o" })).toMatchObject({ api: "anthropic", model: "claude" });
  expect(of({ ANTHROPIC_MODEL: "claude", OPENAI_BASE_URL: "http://here/v1" })).toMatchObject({ api: "openai", url: "http://here/v1" });
  expect(of({ ANTHROPIC_AUTH_TOKEN: "t" })).toMatchObject({
    api: "anthropic",
    key: "t",
    keyName: "ANTHROPIC_AUTH_TOKEN",
    keyHeader: "authorization",
  });
  expect(of({ ANTHROPIC_BASE_URL: "http://here/v1/" })).toMatchObject({ url: "http://here/v1" });
  expect(of({ MINE: "m" }, { keyEnv: "MINE" } as object)).toMatchObject({ key: "m" });
});

test("the token estimate adapts to the model's own counts, within limits", () => {
  const gauge = new Gauge();
  expect(gauge.tokens(400)).toBe(100);
  gauge.learn(100, 1);
  gauge.learn(9000, 0);
  expect(gauge.tokens(400)).toBe(100);
  gauge.learn(9000, 3000);
  expect(gauge.tokens(300)).toBe(100);
  gauge.learn(9000, 1);
  expect(gauge.tokens(600)).toBe(100);
});
