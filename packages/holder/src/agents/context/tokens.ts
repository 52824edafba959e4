/**
 * Estimates the number of tokens of a text. Only the model knows it: the estimate starts with four bytes per token, which fits most texts, and
 * adapts to the counts that the model reports.
 */
import type { Turn } from "./turn.ts";

const USUAL = 4;
/** For fewer bytes, the count says more about the model's own additions than about the text. */
const WORTH_LEARNING = 2000;

export class Gauge {
  #bytesPerToken = USUAL;

  tokens(bytes: number): number {
    return Math.ceil(bytes / this.#bytesPerToken);
  }

  bytes(tokens: number): number {
    return tokens * this.#bytesPerToken;
  }

  /** `tokens` is the model's count for `bytes`. An implausible ratio is clamped, because the model counted something else. */
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
