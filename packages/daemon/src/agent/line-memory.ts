/** Notes that a line reader keeps besides its position. `model` is for agents that name it only once. */
export interface Memory {
  model?: string | null;
  /** For agents that report only a total. */
  total?: number;
  /** For agents that mark an answer as complete in another line. */
  answered?: boolean;
  /** For agents whose answers do not name their prompt: the prompt without a final answer, and why its last call failed. */
  asked?: string | undefined;
  failed?: string | undefined;
}
