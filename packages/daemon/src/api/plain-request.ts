/** Refuses text that no name, path or program can contain before it reaches other code, which would fail on it in various ways. */
import { HoldfastError, LONGEST_PARAM } from "@holdfast/contract";

/** Checks a request's URL as it was sent. */
export function checkEncoding(url: string): void {
  if (!url.includes("%")) return;
  let text: string;
  try {
    text = decodeURIComponent(url);
  } catch (cause) {
    throw new HoldfastError("usage", "the request's address is not percent-encoded UTF-8", { cause });
  }
  if (text.includes("\0")) throw new HoldfastError("usage", "the request's address contains a NUL character");
}

export function checkParams(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (value.length > LONGEST_PARAM)
      throw new HoldfastError("usage", `${name} in the request's path has more than ${LONGEST_PARAM} characters`);
  }
}

export function urlOf(text: string | undefined): URL {
  checkEncoding(text ?? "");
  const url = URL.parse(text ?? "/", "http://holdfast");
  if (!url) throw new HoldfastError("usage", "the request's address is not valid");
  return url;
}

/** An empty type is refused; a client without a type means JSON. */
export function checkType(type: string | undefined): void {
  if (type !== undefined && !/^application\/json *(;|$)/i.test(type))
    throw new HoldfastError("usage", `the request's body has the type ${JSON.stringify(type)}`, { hint: "send application/json" });
}

/** `verbatim`: fields in which NUL is an ordinary character. */
export function checkNul(body: unknown, verbatim: readonly string[] = []): void {
  if (typeof body !== "object" || body === null) return;
  for (const [field, value] of Object.entries(body)) {
    if (!verbatim.includes(field) && hasNul(value)) throw new HoldfastError("usage", `${JSON.stringify(field)} contains a NUL character`);
  }
}

function hasNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, each]) => key.includes("\0") || hasNul(each));
}
