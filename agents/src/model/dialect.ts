/** An API between clients and models. All functions are pure; server.ts does the input and output. */
import type { Part, Question } from "./conversation.ts";
import type { Failure } from "./reply.ts";

export interface Dialect {
  name: string;
  /** True if a POST to this path is a request to the model. */
  asks(path: string): boolean;
  read(body: Record<string, unknown>, path: string): Question;
  /** A streamed answer, part by part, as on the wire. */
  stream(question: Question): { start(): string; part(part: Part): string; end(parts: readonly Part[]): string };
  /** An answer that is not streamed. */
  whole(question: Question, parts: readonly Part[]): unknown;
  failure(failure: Failure): unknown;
  /** The same failure in the middle of a stream. */
  broken(failure: Failure): string;
  /** Headers of a failure. */
  headers?(failure: Failure): Record<string, string>;
}

export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => ("text" in part ? part.text : "")).join("");
}

export function callsOf(parts: readonly Part[]) {
  return parts.flatMap((part) => ("call" in part ? [part.call] : []));
}

const WORDS: Record<number, string> = {
  400: "Bad request",
  401: "The key is not valid",
  403: "Forbidden",
  404: "Not found",
  429: "Rate limit reached, try again later",
  500: "Internal server error",
  503: "Overloaded",
  529: "Overloaded",
};

/** A time in seconds since 1970. */
export function secondsFromNow(seconds: number): number {
  return Math.round(Date.now() / 1000 + seconds);
}

export function wordsFor(status: number): string {
  return `${WORDS[status] ?? "Error"} (scripted)`;
}
