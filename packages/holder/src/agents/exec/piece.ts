/** What a command's answer says, whatever form it has. */
import type { TokenUse } from "@holdfast/contract/transcript";

export type Piece =
  | { kind: "text"; text: string }
  | { kind: "thought"; text: string }
  | { kind: "tool"; id: string; name: string; input: unknown }
  | { kind: "tool_ended"; id: string; output: string; ok: boolean }
  | { kind: "usage"; usage: Partial<TokenUse> }
  /** What one request to the model read; its answer has only begun. */
  | { kind: "step"; id: string; input: number; cacheRead: number; cacheWrite: number }
  | { kind: "failed"; message: string };

export interface AnswerReader {
  push(chunk: Buffer): Piece[];
  /** What was not said yet when the answer ended. `isForeign`: nothing in it was understood. */
  end(): { pieces: Piece[]; isForeign: boolean };
}

/** Its output is its answer, as it comes. */
export function plainReader(): AnswerReader {
  const decoder = new TextDecoder();
  const pieces = (text: string): Piece[] => (text === "" ? [] : [{ kind: "text", text }]);
  return {
    push: (chunk) => pieces(decoder.decode(chunk, { stream: true })),
    end: () => ({ pieces: pieces(decoder.decode()), isForeign: false }),
  };
}
