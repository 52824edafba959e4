import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTaskFile, type TaskItem } from "./parse.ts";
import { type Outcome, runAll, waves } from "./schedule.ts";

const never = new AbortController().signal;

function items(text: string): TaskItem[] {
  return parseTaskFile("tasks.md", text);
}

const labels = (all: Iterable<TaskItem>) => [...all].map(({ label }) => label);

/** Runs that end when the test ends them. */
class Desk {
  readonly begun: string[] = [];
  readonly #open = new Map<string, (outcome: Outcome) => void>();

  run = (item: TaskItem): Promise<Outcome> => {
    this.begun.push(item.label);
    return new Promise((resolve) => this.#open.set(item.label, resolve));
  };

  async end(label: string, outcome: Outcome = "done"): Promise<void> {
    this.#open.get(label)?.(outcome);
    this.#open.delete(label);
    for (let i = 0; i < 10; i++) await Promise.resolve();
  }
}

test("items start in the order of the file, up to the limit, each after its dependencies", async () => {
  const desk = new Desk();
  const all = items("- [ ] 1. a\n- [ ] 2. b\n- [ ] 3. c <!-- after: 1 -->\n- [x] 4. d\n- [ ] 5. e <!-- after: 3,4 -->\n- [ ] 6. f\n");
  const running = runAll({ items: all, parallel: 2, run: desk.run, signal: never });
  expect(desk.begun).toEqual(["1", "2"]);
  await desk.end("2");
  expect(desk.begun).toEqual(["1", "2", "6"]);
  await desk.end("1");
  expect(desk.begun).toEqual(["1", "2", "6", "3"]);
  await desk.end("6");
  expect(desk.begun).toEqual(["1", "2", "6", "3"]);
  await desk.end("3");
  await desk.end("5");
  expect(labels((await running).keys()).sort()).toEqual(["1", "2", "3", "4", "5", "6"]);
});

test("an item that depends on a failed one is blocked, also indirectly, and all others run", async () => {
  const blocked: string[] = [];
  const all = items("- [ ] 1. a <!-- after: 2 -->\n- [ ] 2. b <!-- after: 3 -->\n- [ ] 3. c\n- [ ] 4. d\n- [ ] 5. e <!-- after: 4 -->\n");
  const outcomes = await runAll({
    items: all,
    parallel: 1,
    signal: never,
    run: async ({ label }) => (label === "3" ? "failed" : "done"),
    onBlocked: (item, by) => blocked.push(`${item.label} by ${by.label}`),
  });
  expect([...outcomes].map(([{ label }, outcome]) => `${label} ${outcome}`)).toEqual(["3 failed", "4 done", "5 done"]);
  expect(blocked).toEqual(["2 by 3", "1 by 2"]);
});

test("after an interruption no item starts, and running items are not waited for", async () => {
  const desk = new Desk();
  const stop = new AbortController();
  const running = runAll({ items: items("- [ ] a\n- [ ] b\n- [ ] c\n"), parallel: 2, run: desk.run, signal: stop.signal });
  await desk.end("1");
  stop.abort();
  expect(labels((await running).keys())).toEqual(["1"]);
  expect(desk.begun).toEqual(["1", "2", "3"]);
  const none = await runAll({ items: items("- [ ] a\n"), parallel: 1, run: desk.run, signal: stop.signal });
  expect(none.size).toBe(0);
});

test("a plan groups items into waves that can run together", () => {
  const all = items("- [x] 1. a\n- [ ] 2. b <!-- after: 1 -->\n- [ ] 3. c <!-- after: 2 -->\n- [ ] 4. d\n");
  expect(waves(all).map(labels)).toEqual([["2", "4"], ["3"]]);
});

test("for any dependencies no item starts too early, none is forgotten, and the limit holds", async () => {
  const graph = fc
    .integer({ min: 1, max: 12 })
    .chain((count) =>
      fc.tuple(
        fc.constant(count),
        fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 20 }),
        fc.array(fc.boolean(), { minLength: count, maxLength: count }),
        fc.integer({ min: 1, max: 5 }),
      ),
    );
  await fc.assert(
    fc.asyncProperty(graph, fc.scheduler(), async ([count, edges, fails, parallel], scheduler) => {
      const text = Array.from({ length: count }, (_, index) => {
        const after = edges.flatMap(([a, b]) => (Math.max(a, b) === index && a !== b ? [Math.min(a, b) + 1] : []));
        return `- [ ] ${index + 1}. do it${after.length === 0 ? "" : ` <!-- after: ${after.join(",")} -->`}`;
      });
      const all = items(text.join("\n"));
      const ended = new Map<TaskItem, Outcome>();
      let running = 0;
      const run = async (item: TaskItem): Promise<Outcome> => {
        running++;
        expect(running).toBeLessThanOrEqual(parallel);
        for (const each of item.after) expect(ended.get(each)).toBe("done");
        await scheduler.schedule(Promise.resolve());
        running--;
        const outcome = fails[all.indexOf(item)] ? "failed" : "done";
        ended.set(item, outcome);
        return outcome;
      };
      const finished = runAll({ items: all, parallel, run, signal: never });
      await scheduler.waitFor(finished);
      const outcomes = await finished;
      expect(outcomes).toEqual(ended);
      for (const item of all) {
        const hopeless = (each: TaskItem): boolean => each.after.some((before) => outcomes.get(before) === "failed" || hopeless(before));
        expect(outcomes.has(item)).toBe(!hopeless(item));
      }
    }),
    { numRuns: 150 },
  );
});
