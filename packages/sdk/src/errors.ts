/**
 * Errors as classes, so that a program can distinguish them with `instanceof`. All are `HoldfastError`s: `code` identifies the
 * error, `message` describes it, and `hint` says what to do. Errors without a class of their own differ by `code` alone.
 */
import { type ErrorCode, HoldfastError } from "@holdfast/contract/errors";

export { HoldfastError };

/** The awaited condition did not occur in time. */
export class Timeout extends HoldfastError {
  override readonly name = "Timeout";
}

/** A tool that the agent used failed: with `strict`, or where the whole turn failed with it. */
export class ToolFailed extends HoldfastError {
  override readonly name = "ToolFailed";
}

/** The daemon does not take the token (`unauthenticated`), or a model or an agent's maker not the agent's key (`agent_unauthenticated`). */
export class Unauthenticated extends HoldfastError {
  override readonly name = "Unauthenticated";
}

/** A limit of the session's budget is used up; the message says which. */
export class BudgetExceeded extends HoldfastError {
  override readonly name = "BudgetExceeded";
}

/** The agent ended in the middle of its turn, or never came up. */
export class AgentCrashed extends HoldfastError {
  override readonly name = "AgentCrashed";
}

/** No daemon answers: it did not start, was ended, or went away over the question. */
export class DaemonUnreachable extends HoldfastError {
  override readonly name = "DaemonUnreachable";
}

/** The caller may not do that (`forbidden`); or, with `strict`, the agent's permission request was denied (`permission_refused`). */
export class PermissionRefused extends HoldfastError {
  override readonly name = "PermissionRefused";
}

/** The model gives no answer for now. */
export class RateLimited extends HoldfastError {
  override readonly name = "RateLimited";
}

/** Cancelled by an `AbortSignal`; `cause` is the signal's reason. */
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

/** An error of the class that its code has. */
export function errorOf(...[code, message, more]: ConstructorParameters<typeof HoldfastError>): HoldfastError {
  return new (KINDS[code] ?? HoldfastError)(code, message, more);
}

/** The same error in its class; what a signal broke off is an `AbortError`, whatever it broke with. */
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
