/** The parts of a command's answer, independent of its format. */
import type { TokenUse } from "@holdfast/contract/conversation/transcript";

export type Piece =
  | { kind: "text"; text: string }
  | { kind: "thought"; text: string }
  | { kind: "tool"; id: string; name: string; input: unknown }
  | { kind: "tool_ended"; id: string; output: string; ok: boolean }
  | { kind: "usage"; usage: Partial<TokenUse> }
  /** The input of one model request, whose answer has only begun. */
  | { kind: "step"; id: string; input: number; cacheRead: number; cacheWrite: number }
  | { kind: "failed"; message: string };

export interface AnswerReader {
  push(chunk: Buffer): Piece[];
  /** The remaining pieces at the end of the output. `isForeign`: no line was understood. */
  end(): { pieces: Piece[]; isForeign: boolean };
}

/** The output is the answer, passed on as it arrives. */
export function plainReader(): AnswerReader {
  const decoder = new TextDecoder();
  const pieces = (text: string): Piece[] => (text === "" ? [] : [{ kind: "text", text }]);
  return {
    push: (chunk) => pieces(decoder.decode(chunk, { stream: true })),
    end: () => ({ pieces: pieces(decoder.decode()), isForeign: false }),
  };
}
