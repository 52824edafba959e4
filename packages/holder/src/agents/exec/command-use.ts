/**
 * The usage of a command in one turn. Reported tokens are used as they are. Otherwise tokens are estimated from the texts: the prompt and the
 * output of tools are input, and everything the command prints is output. Text that the command adds to its requests is not visible.
 */
import type { TokenUse } from "@holdfast/contract/conversation/transcript";
import { bytesOf, type Gauge } from "../context/tokens.ts";
import type { Piece } from "./piece.ts";

export class CommandUse {
  readonly #told: TokenUse;
  readonly #gauge: Gauge;
  #inputBytes: number;
  #outputBytes = 0;
  /** Per model request, because some commands report the tokens of one request several times. */
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
    // A request reports its output count when the output has only begun.
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
