import { createHash } from "node:crypto";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** An id of a message that is made of something: of the same it is the same, also for the next daemon. */
export function derivedId(parts: readonly (string | number)[]): string {
  const bytes = createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 10);
  return [...bytes].map((byte, i) => ALPHABET[i === 0 ? byte % 26 : byte & 31]).join("");
}
