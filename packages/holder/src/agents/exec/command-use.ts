/**
 * What a command took in one turn. Commands that tell their tokens are believed; of all others the tokens are estimated from the texts: the words that the
 * command was given and the output of its tools are input, whatever it says is output. What it adds by itself, nobody sees.
 */
import type { TokenUse } from "@holdfast/contract/transcript";
import { bytesOf, type Gauge } from "../context/tokens.ts";
import type { Piece } from "./piece.ts";

export class CommandUse {
  readonly #told: TokenUse;
  readonly #gauge: Gauge;
  #inputBytes: number;
  #outputBytes = 0;
  /** Of each request to the model: some commands tell the tokens of one several times. */
  readonly #steps = new Map<string, Step>();

  constructor({ model, gauge, given }: { model: string | null; gauge: Gauge; given: string }) {
    this.#told = { model, input: null, output: null, cacheRead: null, cacheWrite: null, cost: null, context: null };
    this.#gauge = gauge;
    this.#inputBytes = bytesOf(given);
  }

  take(piece: Exclude<Piece, { kind: "failed" }>): void {
    if (piece.kind === "usage")
      for (const [key, value] of Object.entries(piece.usage)) if (value !== null) Object.assign(this.#told, { [key]: value });
    if (piece.kind === "step") this.#steps.set(piece.id, piece);
    if (piece.kind === "tool_ended") this.#inputBytes += bytesOf(piece.output);
    if (piece.kind === "text" || piece.kind === "thought") this.#outputBytes += bytesOf(piece.text);
    if (piece.kind === "tool") this.#outputBytes += bytesOf(piece.name) + bytesOf(JSON.stringify(piece.input) ?? "");
  }

  sum(): TokenUse {
    if (this.#told.input !== null && this.#told.output !== null) return { ...this.#told };
    const steps = [...this.#steps.values()];
    const of = (key: "input" | "cacheRead" | "cacheWrite") => steps.reduce((sum, step) => sum + step[key], 0);
    // A request tells its output when it has just begun.
    const output = this.#gauge.tokens(this.#outputBytes);
    const counts = steps.length === 0 ? { input: this.#gauge.tokens(this.#inputBytes), cacheRead: 0, cacheWrite: 0 } : undefined;
    return {
      ...this.#told,
      ...(counts ?? { input: of("input"), cacheRead: of("cacheRead"), cacheWrite: of("cacheWrite") }),
      output,
      estimated: true,
    };
  }
}

type Step = Extract<Piece, { kind: "step" }>;
