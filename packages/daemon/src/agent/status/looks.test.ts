import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Looks } from "./looks.ts";

class Seen {
  readonly all: { key: string; settled: boolean; at: number }[] = [];
  readonly looks = new Looks((key, settled) => this.all.push({ key, settled, at: performance.now() }));
}

test("a screen that came to rest is looked at once, and not again while nothing is written", async () => {
  const seen = new Seen();
  using looks = seen.looks;
  for (let i = 0; i < 5; i++) {
    looks.stir("a");
    await sleep(20);
  }
  await sleep(600);
  expect(seen.all.map(({ key, settled }) => ({ key, settled }))).toEqual([{ key: "a", settled: true }]);
});

test("one that never rests is looked at about once a second, and at once when it does", async () => {
  const seen = new Seen();
  using looks = seen.looks;
  for (let i = 0; i < 27; i++) {
    looks.stir("spinner");
    await sleep(100);
  }
  await sleep(400);
  const unsettled = seen.all.filter(({ settled }) => !settled).length;
  // On a busy machine a pause of this loop may be long enough for a rest.
  expect(unsettled).toBeLessThanOrEqual(3);
  expect(seen.all.length).toBeGreaterThanOrEqual(2);
  expect(seen.all.at(-1)?.settled).toBe(true);
});

test("a look that was ordered comes though nothing is written, and one that was forgotten does not", async () => {
  const seen = new Seen();
  using looks = seen.looks;
  looks.order("again", 100);
  looks.stir("gone");
  looks.order("gone", 50);
  looks.forget("gone");
  await sleep(400);
  expect(seen.all.map(({ key }) => key)).toEqual(["again"]);
});
