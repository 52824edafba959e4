/**
 * The part of a conversation that an agent gets with each turn: the first turns, which describe the task, and the last turns, within the token
 * limit. The omitted turns are between them, and are reported. The transcript always has all turns.
 */
import type { ContextRule } from "@holdfast/contract/agent/order";
import { bytesOfTurn, Gauge } from "./tokens.ts";
import { isWorthTelling, type Turn } from "./turn.ts";

export interface Kept {
  first: Turn[];
  last: Turn[];
  /** Turns `from` to `to`, counted from 1, are omitted. `forRoom`: some of them to save space. Null: none is omitted. */
  leftOut: { from: number; to: number; forRoom: boolean } | null;
  /** Of the kept turns and everything else that is sent. */
  tokens: number;
}

/** From this share of the limit on, a warning is shown. */
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

  /** `besides`: tokens of everything sent besides the turns, mostly the prompt. */
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

  /** True once each time the context becomes nearly full. */
  becomesNearlyFull(used: number): boolean {
    const before = this.#wasNearlyFull;
    this.#wasNearlyFull = this.rule.tokens !== null && used >= this.rule.tokens * NEARLY_FULL;
    return this.#wasNearlyFull && !before;
  }
}
