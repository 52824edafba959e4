/** The reason why a turn failed, for the person who waits. The conversation is unchanged, and the same prompt can be sent again. */
import { RequestError } from "@agentclientprotocol/sdk";
import type { TokenUse } from "@holdfast/contract/conversation/transcript";

export type FailureCode =
  | "network_failed"
  | "unauthenticated"
  | "rate_limited"
  | "model_failed"
  | "malformed_answer"
  | "command_failed"
  | "context_full"
  | "usage";

export class AgentFailure extends Error {
  readonly code: FailureCode;
  readonly hint: string;
  /** Whether the same prompt may succeed later. */
  readonly retry: boolean;
  /** The usage before the failure. */
  usage?: TokenUse;

  constructor(code: FailureCode, message: string, { hint, retry, cause }: { hint: string; retry: boolean; cause?: unknown }) {
    super(message, { cause });
    this.code = code;
    this.hint = hint;
    this.retry = retry;
  }
}

const AUTH_REQUIRED = -32000;
const INTERNAL = -32603;

export function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (!(error instanceof AgentFailure))
    return new RequestError(INTERNAL, error instanceof Error ? error.message : String(error), {
      code: "internal",
      hint: "this is a bug in the agent; the message can be sent again",
      retry: true,
    });
  const { code, message, hint, retry, usage } = error;
  return new RequestError(code === "unauthenticated" ? AUTH_REQUIRED : INTERNAL, message, {
    code,
    hint,
    retry,
    ...(usage ? { usage } : {}),
  });
}
