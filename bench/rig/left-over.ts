/** What has to be taken down when somebody interrupts a benchmark: `await using` does not hear of a signal. */
const open = new Set<AsyncDisposable>();

/** To be called by what opens something that outlives the process; answers how to say that it is closed. */
export function opened(what: AsyncDisposable): () => void {
  open.add(what);
  return () => open.delete(what);
}

export async function closeAll(): Promise<void> {
  for (const what of [...open].reverse()) await what[Symbol.asyncDispose]();
}
