/** Formats of values in a query string. */
import * as z from "zod/mini";

export const flag = z._default(z.stringbool(), false);

export const wholeNumber = z.pipe(z.string().check(z.regex(/^\d{1,15}$/)), z.transform(Number));

/**
 * A comma-separated list: names, ids and statuses contain no comma. An empty part stays and matches nothing. If it were dropped, `stop "$UNSET"`
 * would name no session and so mean all of them.
 */
export const list = z.pipe(
  z.string(),
  z.transform((value) => value.split(",")),
);
