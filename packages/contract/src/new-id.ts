/** Creates ids of all kinds. No schema library here: clients use this file too. */
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  let id = "";
  for (const [i, byte] of bytes.entries()) id += ALPHABET[i === 0 ? byte % 26 : byte & 31];
  return id;
}
