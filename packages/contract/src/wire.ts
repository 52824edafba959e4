/** How values are written in a query. */
import * as z from "zod/mini";

export const flag = z._default(z.stringbool(), false);

export const wholeNumber = z.pipe(z.string().check(z.regex(/^\d{1,15}$/)), z.transform(Number));

/**
 * Comma-separated: names, ids and statuses cannot contain a comma. An empty part stays and fits nothing: were it left out, `stop "$UNSET"` would name
 * no session and so mean all of them.
 */
export const list = z.pipe(
  z.string(),
  z.transform((value) => value.split(",")),
);
