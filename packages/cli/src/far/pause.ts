/** Pause between two attempts: short at first, because most breaks are short; longer later, because a machine may be away for hours. */
const FIRST_MS = 250;
const LONGEST_MS = 15_000;

/** Ends early when the signal aborts. */
export function pauseAfter(mishaps: number, signal?: AbortSignal): Promise<void> {
  const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(mishaps, 10));
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal?.addEventListener("abort", over);
    if (signal?.aborted) over();
  });
}
