/** Resources to clean up when a signal interrupts a benchmark, because a signal skips `await using`. */
const open = new Set<AsyncDisposable>();

/** Registers something that outlives the process; returns a function that marks it as closed. */
export function opened(what: AsyncDisposable): () => void {
  open.add(what);
  return () => open.delete(what);
}

export async function closeAll(): Promise<void> {
  for (const what of [...open].reverse()) await what[Symbol.asyncDispose]();
}
