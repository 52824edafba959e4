/**
 * How many tokens a text has. Nobody but the model knows: it is four bytes to a token, as most texts have about that many, until the model has
 * told how many some of them had.
 */
import type { Turn } from "./turn.ts";

const USUAL = 4;
/** Of fewer bytes the answer says more about what the model adds by itself than about the text. */
const WORTH_LEARNING = 2000;

export class Gauge {
  #bytesPerToken = USUAL;

  tokens(bytes: number): number {
    return Math.ceil(bytes / this.#bytesPerToken);
  }

  bytes(tokens: number): number {
    return tokens * this.#bytesPerToken;
  }

  /** `tokens` is what the model counted in `bytes`. Outside of what texts can have it counted something else. */
  learn(bytes: number, tokens: number): void {
    if (bytes < WORTH_LEARNING || tokens <= 0) return;
    this.#bytesPerToken = Math.min(6, Math.max(2, bytes / tokens));
  }
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

export function bytesOfTurn({ prompt, said }: Turn): number {
  return said.reduce((sum, each) => {
    if (each.kind !== "tool") return sum + bytesOf(each.text);
    return sum + bytesOf(each.title) + bytesOf(each.output) + bytesOf(JSON.stringify(each.input) ?? "");
  }, bytesOf(prompt));
}
