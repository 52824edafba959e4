/**
 * The part of a conversation that is given to an agent with each turn: its first turns, which say what it is about, and its last ones, within the limit
 * of tokens. What is left out lies between them, and is told. The transcript has all of it, always.
 */
import type { ContextRule } from "@holdfast/contract/agent-order";
import { bytesOfTurn, Gauge } from "./tokens.ts";
import { isWorthTelling, type Turn } from "./turn.ts";

export interface Kept {
  first: Turn[];
  last: Turn[];
  /** Turns `from` to `to`, counted from 1, are not in it. `forRoom`: some of them for want of room. Null: all are in it. */
  leftOut: { from: number; to: number; forRoom: boolean } | null;
  /** Of the turns, and of what else is given. */
  tokens: number;
}

/** From here on people are told that it becomes full. */
const NEARLY_FULL = 0.8;

export class KeptContext {
  readonly rule: ContextRule;
  readonly gauge = new Gauge();
  #turns: Turn[];
  #wasNearlyFull = false;

  constructor(rule: ContextRule, turns: readonly Turn[]) {
    this.rule = rule;
    this.#turns = [...turns];
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  add(turn: Turn): void {
    if (isWorthTelling(turn)) this.#turns.push(turn);
  }

  clear(): void {
    this.#turns = [];
    this.#wasNearlyFull = false;
  }

  /** `besides`: tokens of what is given beside the turns, the prompt before all. */
  keep(besides: number): Kept {
    const { first, last, tokens } = this.rule;
    const all = this.#turns;
    const begin = all.slice(0, first);
    const end = all.slice(Math.max(begin.length, all.length - last));
    const byRule = begin.length + end.length;
    const weigh = () => [...begin, ...end].reduce((sum, turn) => sum + this.gauge.tokens(bytesOfTurn(turn)), besides);
    while (tokens !== null && begin.length + end.length > 0 && weigh() > tokens) {
      if (end.length > 0) end.shift();
      else begin.pop();
    }
    const kept = begin.length + end.length;
    const leftOut = kept === all.length ? null : { from: begin.length + 1, to: all.length - end.length, forRoom: kept < byRule };
    return { first: begin, last: end, leftOut, tokens: weigh() };
  }

  /** True once for each time it becomes so. */
  becomesNearlyFull(used: number): boolean {
    const before = this.#wasNearlyFull;
    this.#wasNearlyFull = this.rule.tokens !== null && used >= this.rule.tokens * NEARLY_FULL;
    return this.#wasNearlyFull && !before;
  }
}
