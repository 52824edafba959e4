import { abortErrorOf, errorOf, throwIfAborted } from "./errors.ts";

/** Runs work with a time limit. Fails with `Timeout` when the time is over, and with `AbortError` when the signal aborts. */
export async function withTimeout<T>(
  { timeoutMs, signal }: { timeoutMs?: number | undefined; signal?: AbortSignal | undefined },
  late: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const over = new AbortController();
  const onAbort = () => over.abort(signal && abortErrorOf(signal));
  signal?.addEventListener("abort", onAbort);
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => over.abort(errorOf("timeout", late)), timeoutMs);
  try {
    return await work(over.signal);
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    over.abort();
  }
}
