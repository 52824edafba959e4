import { HoldfastError } from "@holdfast/contract/errors";

/** The authorization header of a request. An empty token counts as none. */
export function bearer(token: string | undefined): string | undefined {
  if (token === undefined || token === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  throw new HoldfastError("unauthenticated", "the token contains characters that are not allowed", { hint: "check HOLDFAST_TOKEN" });
}
