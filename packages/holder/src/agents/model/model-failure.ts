/** Maps errors of model requests to failures for people. */
import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoOutputGeneratedError,
  StreamProviderError,
  TypeValidationError,
} from "ai";
import { AgentFailure } from "../failure.ts";
import type { Endpoint } from "./endpoint.ts";

/** A failure that may be temporary, and when to retry: `afterMs` is null if the endpoint did not say. */
export interface Passing {
  afterMs: number | null;
}

export function failureOf(error: unknown, endpoint: Endpoint): { failure: AgentFailure; passing: Passing | null } {
  if (error instanceof AgentFailure) return { failure: error, passing: null };
  const { host } = new URL(endpoint.url);
  if (APICallError.isInstance(error) && error.statusCode !== undefined && error.statusCode >= 400)
    return refused(
      { status: error.statusCode, said: `answered ${error.statusCode}`, error, after: retryAfter(error.responseHeaders) },
      endpoint,
    );
  if (StreamProviderError.isInstance(error)) {
    const { statusCode: status } = error;
    return status === undefined ? told(error, endpoint) : refused({ status, said: "broke off", error, after: null }, endpoint);
  }
  if (isMalformed(error)) return { failure: malformed(error, host), passing: null };
  if (!(error instanceof Error)) return told(error, endpoint);
  const failure = new AgentFailure("network_failed", `the connection to ${host} failed: ${deepest(error)}`, {
    hint: `check that ${endpoint.url} is right and reachable, then send the message again; the conversation is kept`,
    retry: true,
    cause: error,
  });
  return { failure, passing: { afterMs: null } };
}

interface Refused {
  status: number;
  /** How the error was reported. */
  said: string;
  error: Error;
  after: number | null;
}

function refused({ status, said, error, after: afterMs }: Refused, endpoint: Endpoint): { failure: AgentFailure; passing: Passing | null } {
  const words = `${new URL(endpoint.url).host} ${said}: ${oneLine(error.message)}`;
  const fail = (code: AgentFailure["code"], hint: string, retry: boolean) => new AgentFailure(code, words, { hint, retry, cause: error });
  if (status === 401 || status === 403) return { failure: fail("unauthenticated", keyHint(endpoint), true), passing: null };
  if (status === 429) {
    const isUsedUp = /quota|billing|credit/i.test(error.message);
    const when = afterMs === null ? "wait a little" : `wait ${Math.ceil(afterMs / 1000)} s`;
    const hint = isUsedUp ? "the credit is used up: check the account at the provider" : `${when}, then send it again`;
    return { failure: fail("rate_limited", hint, true), passing: isUsedUp ? null : { afterMs } };
  }
  if (status >= 500 || status === 408 || status === 409)
    return {
      failure: fail("model_failed", "the endpoint failed: send the message again later", true),
      passing: { afterMs },
    };
  if (/context|too long|maximum.*tokens/i.test(error.message))
    return {
      failure: fail(
        "context_full",
        "/clear starts a new context; context.tokens of the agent in config.toml keeps it below the model's limit",
        false,
      ),
      passing: null,
    };
  const hint =
    status === 404 ? `check the model's name and the address ${endpoint.url}` : "read the endpoint's message; /model chooses another model";
  return { failure: fail("model_failed", hint, false), passing: null };
}

/** Errors that some endpoints send in the middle of an answer. */
function told(error: unknown, endpoint: Endpoint): { failure: AgentFailure; passing: Passing | null } {
  const { message, type = "" } = typeof error === "object" && error !== null ? (error as { message?: unknown; type?: unknown }) : {};
  const words = typeof message === "string" ? message : typeof error === "string" ? error : JSON.stringify(error);
  const kind = `${type} ${words}`;
  const code = /rate.?limit/i.test(kind) ? "rate_limited" : /authenti|permission|api key/i.test(kind) ? "unauthenticated" : "model_failed";
  const hint = code === "unauthenticated" ? keyHint(endpoint) : "send the message again later";
  return {
    failure: new AgentFailure(code, `${new URL(endpoint.url).host} broke off: ${oneLine(words)}`, { hint, retry: true }),
    passing: null,
  };
}

function isMalformed(error: unknown): boolean {
  return (
    JSONParseError.isInstance(error) ||
    TypeValidationError.isInstance(error) ||
    InvalidResponseDataError.isInstance(error) ||
    NoOutputGeneratedError.isInstance(error) ||
    EmptyResponseBodyError.isInstance(error) ||
    // A success status with an invalid body, unless the connection failed on the way.
    (APICallError.isInstance(error) && error.statusCode !== undefined && (!(error.cause instanceof Error) || isMalformed(error.cause)))
  );
}

function malformed(error: unknown, host: string): AgentFailure {
  return new AgentFailure("malformed_answer", `the reply of ${host} cannot be read: ${oneLine((error as Error).message)}`, {
    hint: "check that this is an endpoint for this API, then send the message again; the conversation is kept",
    retry: true,
    cause: error,
  });
}

function keyHint({ key, keyName }: Endpoint): string {
  return key === null
    ? `no key was sent: ${keyName} was not set when the session was started`
    : `the key in ${keyName} was rejected: start the session with the right one, then send the message again`;
}

/** The delay in milliseconds. The header has seconds, milliseconds or a date. */
export function retryAfter(headers: Readonly<Record<string, string>> | undefined): number | null {
  const ms = Number.parseFloat(headers?.["retry-after-ms"] ?? "");
  if (ms >= 0) return ms;
  const given = headers?.["retry-after"] ?? "";
  const seconds = Number(given);
  if (given !== "" && seconds >= 0) return seconds * 1000;
  const until = Date.parse(given) - Date.now();
  return Number.isNaN(until) ? null : Math.max(0, until);
}

/** The innermost cause: the outer errors only say that something failed. */
function deepest(error: Error): string {
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return deepest(cause.errors[0]);
  if (cause instanceof Error) return deepest(cause);
  const { code } = error as NodeJS.ErrnoException;
  return oneLine(error.message || code || error.name);
}

function oneLine(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
