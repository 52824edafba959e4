import type { Spent, Sums } from "@holdfast/contract";
import type { UsageFact } from "../projection/usage.ts";

/** Adds up known usage, and counts the turns with unknown tokens or cost. */
export class Sum {
  readonly #turns = new Set<string>();
  readonly #unknownTokens = new Set<string>();
  readonly #unknownCosts = new Set<string>();
  #input = 0;
  #output = 0;
  #cacheRead = 0;
  #cacheWrite = 0;
  #cost: number | null = null;
  #context: Spent["context"] = null;
  #estimated = false;

  /** `cost` null: unknown. */
  add(
    fact: Pick<UsageFact, "session" | "run" | "turn" | "input" | "output" | "cacheRead" | "cacheWrite" | "context" | "estimated">,
    cost: number | null,
  ): void {
    const turn = `${fact.session} ${fact.run} ${fact.turn}`;
    this.#turns.add(turn);
    this.#input += fact.input ?? 0;
    this.#output += fact.output ?? 0;
    this.#cacheRead += fact.cacheRead ?? 0;
    this.#cacheWrite += fact.cacheWrite ?? 0;
    if ([fact.input, fact.output, fact.cacheRead, fact.cacheWrite].includes(null)) this.#unknownTokens.add(turn);
    if (cost === null) this.#unknownCosts.add(turn);
    else this.#cost = (this.#cost ?? 0) + cost;
    this.#context = fact.context ?? this.#context;
    this.#estimated ||= fact.estimated ?? false;
  }

  get spent(): Spent {
    return { ...this.sums, context: this.#context };
  }

  get sums(): Sums {
    return {
      turns: this.#turns.size,
      input: this.#input,
      output: this.#output,
      cacheRead: this.#cacheRead,
      cacheWrite: this.#cacheWrite,
      unknownTokens: this.#unknownTokens.size,
      cost: this.#cost === null ? null : Math.round(this.#cost * 1e6) / 1e6,
      unknownCosts: this.#unknownCosts.size,
      estimated: this.#estimated,
    };
  }
}

/** The sum of two that have no turn in common. */
export function plus(one: Spent | null, other: Spent | null): Spent | null {
  if (!one || !other) return one ?? other;
  const cost = one.cost === null && other.cost === null ? null : (one.cost ?? 0) + (other.cost ?? 0);
  return {
    turns: one.turns + other.turns,
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    unknownTokens: one.unknownTokens + other.unknownTokens,
    cost: cost === null ? null : Math.round(cost * 1e6) / 1e6,
    unknownCosts: one.unknownCosts + other.unknownCosts,
    estimated: one.estimated || other.estimated,
    context: other.context ?? one.context,
  };
}
