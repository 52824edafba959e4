import { createHash } from "node:crypto";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** A message id derived from its parts: the same parts give the same id, also in the next daemon. */
export function derivedId(parts: readonly (string | number)[]): string {
  const bytes = createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 10);
  return [...bytes].map((byte, i) => ALPHABET[i === 0 ? byte % 26 : byte & 31]).join("");
}
