/** Size limits of requests. Each limit applies before anything is buffered or parsed. */
import type { Endpoint } from "./endpoint.ts";

export const BODY_LIMIT = 1 << 20;

/** Limit of endpoints that accept a person's or an agent's text, or a whole environment. */
export const TEXT_BODY_LIMIT = 32 << 20;

/** Tool inputs and shared values may be nested, but no sensible one is nested this deep. */
export const DEEPEST_JSON = 64;

/** A body of 32 MB could otherwise become sixteen million objects. */
export const MOST_JSON_VALUES = 200_000;

/** Longest name, id or percent-encoded path in a request's path. */
export const LONGEST_PARAM = 1000;

/** Linux limits of one argument and of all arguments together. */
export const LONGEST_ARGUMENT = 131_071;
export const LONGEST_COMMAND = 2_000_000;

export function bodyLimitOf({ takesText }: Pick<Endpoint, "takesText">): number {
  return takesText ? TEXT_BODY_LIMIT : BODY_LIMIT;
}
