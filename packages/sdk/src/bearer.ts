import { HoldfastError } from "@holdfast/contract/errors";

/** What a request says about who makes it; nothing without a token. An empty token is no token. */
export function bearer(token: string | undefined): string | undefined {
  if (token === undefined || token === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  throw new HoldfastError("unauthenticated", "the token contains characters that no token has", { hint: "look at HOLDFAST_TOKEN" });
}
