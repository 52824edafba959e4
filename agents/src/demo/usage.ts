/** Simulated model usage of a turn: about four characters per token, or the values of `--usage`. */
import { randomUUID } from "node:crypto";

export interface Used {
  id: string;
  at: string;
  model: string | null;
  input: number | null;
  output: number | null;
  cacheRead: number | null;
  cacheWrite: number | null;
  /** Cost in US dollars. */
  cost?: number;
  /** Used and total size of the context window. */
  context?: number;
  contextSize?: number;
}

const NUMBERS = ["input", "output", "cacheRead", "cacheWrite", "cost", "context", "contextSize"] as const;

/** Parses `input=1000,output=200,model=gpt-5`; `output=?` means not reported. Undefined if invalid. */
export function parseUsage(text: string): Partial<Used> | undefined {
  const given: Partial<Used> = {};
  for (const part of text.split(",")) {
    const [, key, value = ""] = /^(\w+)=(.+)$/.exec(part) ?? [];
    const number = NUMBERS.find((known) => known === key);
    if (number !== undefined && (value === "?" || Number(value) >= 0))
      Object.assign(given, { [number]: value === "?" ? null : Number(value) });
    else if (key === "model") given.model = value === "?" ? null : value;
    else return undefined;
  }
  return given;
}

export function usedBy(turn: { prompt: string; said: string }, given: Partial<Used>): Used {
  const [input, output] = [tokens(turn.prompt), tokens(turn.said)];
  return { id: randomUUID(), at: new Date().toISOString(), model: "demo", input, output, cacheRead: 0, cacheWrite: 0, ...given };
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}
