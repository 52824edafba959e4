/**
 * Schedules items: each after its dependencies, a limited number at once, in the order of the file. An item that depends on a failed one is not
 * started; all others are.
 */
import type { TaskItem } from "./parse.ts";

export type Outcome = "done" | "failed";

export interface Schedule {
  items: readonly TaskItem[];
  parallel: number;
  /** Must not throw: a failure is an outcome. */
  run(item: TaskItem): Promise<Outcome>;
  /** On abort, no further item starts, and running items are not awaited. */
  signal: AbortSignal;
  onBlocked?(item: TaskItem, by: TaskItem): void;
}

/** Outcomes of the items; items that were not started or not awaited are missing. */
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
        // After an abort the result is not an outcome.
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

/** Groups of items that could run together, without failures: for a plan. */
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
