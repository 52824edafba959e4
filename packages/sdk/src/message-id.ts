const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Creates an id in the daemon's format: ten letters and digits, the first a letter. */
export function newMessageId(): string {
  const [first = 0, ...rest] = crypto.getRandomValues(new Uint8Array(10));
  return [ALPHABET[first % 26], ...rest.map((byte) => ALPHABET[byte % 32])].join("");
}
