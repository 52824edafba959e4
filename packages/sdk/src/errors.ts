/**
 * Error classes, so that programs can use `instanceof`. All extend `HoldfastError`: `code` identifies the error, `message` describes it, and `hint`
 * says what to do. Errors without a class of their own differ only by `code`.
 */
import { type ErrorCode, HoldfastError } from "@holdfast/contract/errors";

export { HoldfastError };

/** The awaited condition did not occur in time. */
export class Timeout extends HoldfastError {
  override readonly name = "Timeout";
}

/** A tool call of the agent failed. Thrown with `strict`, or if the whole turn failed because of it. */
export class ToolFailed extends HoldfastError {
  override readonly name = "ToolFailed";
}

/** The daemon rejected the token (`unauthenticated`), or the model provider rejected the agent's credentials (`agent_unauthenticated`). */
export class Unauthenticated extends HoldfastError {
  override readonly name = "Unauthenticated";
}

/** The session has used up a limit of its budget; the message says which. */
export class BudgetExceeded extends HoldfastError {
  override readonly name = "BudgetExceeded";
}

/** The agent ended during its turn, or did not start. */
export class AgentCrashed extends HoldfastError {
  override readonly name = "AgentCrashed";
}

/** No daemon answers: it did not start, has ended, or disconnected before it replied. */
export class DaemonUnreachable extends HoldfastError {
  override readonly name = "DaemonUnreachable";
}

/** The caller lacks the right (`forbidden`), or, with `strict`, a permission request of the agent was denied (`permission_refused`). */
export class PermissionRefused extends HoldfastError {
  override readonly name = "PermissionRefused";
}

/** The model provider refuses requests for now. */
export class RateLimited extends HoldfastError {
  override readonly name = "RateLimited";
}

/** An `AbortSignal` cancelled the call; `cause` is the signal's reason. */
export class AbortError extends HoldfastError {
  override readonly name = "AbortError";
}

type Kind = new (...args: ConstructorParameters<typeof HoldfastError>) => HoldfastError;

const KINDS: Partial<Record<ErrorCode, Kind>> = {
  timeout: Timeout,
  tool_failed: ToolFailed,
  unauthenticated: Unauthenticated,
  agent_unauthenticated: Unauthenticated,
  budget_spent: BudgetExceeded,
  agent_crashed: AgentCrashed,
  daemon_unreachable: DaemonUnreachable,
  daemon_ended: DaemonUnreachable,
  forbidden: PermissionRefused,
  permission_refused: PermissionRefused,
  rate_limited: RateLimited,
  aborted: AbortError,
};

/** Creates an error of the class that belongs to its code. */
export function errorOf(...[code, message, more]: ConstructorParameters<typeof HoldfastError>): HoldfastError {
  return new (KINDS[code] ?? HoldfastError)(code, message, more);
}

/** Converts an error to the class of its code. After an abort the result is always an `AbortError`. */
export function typed(thrown: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return abortErrorOf(signal);
  if (!(thrown instanceof HoldfastError) || thrown.constructor !== HoldfastError) return thrown;
  const kind = KINDS[thrown.code];
  return kind ? new kind(thrown.code, thrown.message, thrown) : thrown;
}

export function abortErrorOf({ reason }: AbortSignal): AbortError {
  if (reason instanceof AbortError) return reason;
  return new AbortError("aborted", "the query was cancelled", { cause: reason });
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortErrorOf(signal);
}
