/**
 * Which item is done when: each after those it waits for, at most so many at once, in the order of the file. What waits for an item that failed
 * is not begun; everything else is.
 */
import type { TaskItem } from "./parse.ts";

export type Outcome = "done" | "failed";

export interface Schedule {
  items: readonly TaskItem[];
  parallel: number;
  /** Does not throw: what went wrong is its own affair, and it says how it ended. */
  run(item: TaskItem): Promise<Outcome>;
  /** When it aborts nothing more is begun, and nobody waits for what runs. */
  signal: AbortSignal;
  onBlocked?(item: TaskItem, by: TaskItem): void;
}

/** How each ended; one that was not begun, or nobody waited for, is not in it. */
export async function runAll({ items, parallel, run, signal, onBlocked }: Schedule): Promise<Map<TaskItem, Outcome>> {
  const outcomes = new Map<TaskItem, Outcome>(items.filter(({ done }) => done).map((item) => [item, "done"]));
  const blocked = new Set<TaskItem>();
  const running = new Map<TaskItem, Promise<void>>();
  const left = () => items.filter((item) => !outcomes.has(item) && !running.has(item) && !blocked.has(item));
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const hopeless = (item: TaskItem) => item.after.find((each) => blocked.has(each) || outcomes.get(each) === "failed");
  while (!signal.aborted) {
    for (let item = left().find(hopeless); item; item = left().find(hopeless)) {
      blocked.add(item);
      onBlocked?.(item, hopeless(item) as TaskItem);
    }
    const ready = left().filter(({ after }) => after.every((each) => outcomes.get(each) === "done"));
    for (const item of ready.slice(0, Math.max(0, parallel - running.size))) {
      const work = run(item).then((outcome) => {
        // What it says of one that nobody waits for is no outcome.
        if (!signal.aborted) outcomes.set(item, outcome);
        running.delete(item);
      });
      running.set(item, work);
    }
    if (running.size === 0) break;
    await Promise.race([aborted, ...running.values()]);
  }
  return outcomes;
}

/** What could run together, as it would be without failures: for a plan. */
export function waves(items: readonly TaskItem[]): TaskItem[][] {
  const done = new Set(items.filter((item) => item.done));
  const result: TaskItem[][] = [];
  for (;;) {
    const next = items.filter((item) => !done.has(item) && item.after.every((each) => done.has(each)));
    if (next.length === 0) return result;
    result.push(next);
    for (const item of next) done.add(item);
  }
}
