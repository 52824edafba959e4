import { appendFileSync, mkdtempDisposableSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Sample } from "./sample.ts";
import { Times } from "./times.ts";

function having(text?: string) {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const file = join(directory.path, "times.idx");
  if (text !== undefined) writeFileSync(file, text);
  return { times: new Times(directory.path), file, directory: directory.path, [Symbol.dispose]: () => directory.remove() };
}

test("appended samples are read back", () => {
  using run = having();
  expect([run.times.read(), run.times.sampled(), run.times.offsetAt(5), run.times.sizes()]).toEqual([[], 0, 0, []]);
  const samples = [
    { at: 1000, offset: 0, size: { columns: 120, rows: 40 } },
    { at: 1250, offset: 4096 },
    { at: null, offset: 8192 },
    { at: 2000, offset: 8192, size: { columns: 80, rows: 24 } },
  ];
  for (const sample of samples) run.times.append(sample);
  expect(readFileSync(run.file, "utf8")).toBe("1000 0 120x40\n1250 4096\n- 8192\n2000 8192 80x24\n");
  expect(statSync(run.file).mode & 0o777).toBe(0o600);
  expect(run.times.read()).toEqual(samples);
  expect(run.times.sampled()).toBe(8192);
  expect(run.times.sizes()).toEqual([
    { offset: 0, columns: 120, rows: 40 },
    { offset: 8192, columns: 80, rows: 24 },
  ]);
});

test.each(["12", "1250 40", "1250 4096", "1250 4096 80x", "-", "\0\0\0\0"])("a last line torn at %j is ignored", (torn) => {
  using run = having(`1000 10\n${torn}`);
  expect(run.times.read()).toEqual([{ at: 1000, offset: 10 }]);
  expect(run.times.sampled()).toBe(10);
});

test.each(["12", "1250 40", "1250 4096", "1250 4096 80x", "-", "\0\0\0\0"])(
  "samples appended after a line torn at %j are not joined to it",
  (torn) => {
    using run = having(`1000 10\n${torn}`);
    run.times.append({ at: 2000, offset: 20 });
    run.times.append({ at: 3000, offset: 30 });
    expect(run.times.read()).toEqual([
      { at: 1000, offset: 10 },
      { at: 2000, offset: 20 },
      { at: 3000, offset: 30 },
    ]);
  },
);

test("lines of a later version are ignored", () => {
  using run = having("1000 10\n1100 11 colour\n\n1200 12 80x24 more\n1300 13\n");
  expect(run.times.read().map(({ offset }) => offset)).toEqual([10, 13]);
});

test("the saved offset of a long index is read from its end", () => {
  using run = having(Array.from({ length: 50_000 }, (_, i) => `${1000 + i} ${i}\n`).join(""));
  expect(run.times.sampled()).toBe(49_999);
  appendFileSync(run.file, "x".repeat(10_000));
  expect(run.times.sampled()).toBe(49_999);
});

test("offsetAt returns the last offset from before the given time", () => {
  using run = having("1000 0\n1250 100\n1500 200\n");
  expect(run.times.offsetAt(0)).toBe(0);
  expect(run.times.offsetAt(1250)).toBe(0);
  expect(run.times.offsetAt(1251)).toBe(100);
  expect(run.times.offsetAt(1500)).toBe(100);
  expect(run.times.offsetAt(9999)).toBe(200);
});

test("bytes of unknown time are always included", () => {
  using run = having("1000 0\n1250 100\n- 500\n2000 600\n- 900\n");
  // They arrived between 1250 and 2000, or after 2000.
  expect(run.times.offsetAt(1300)).toBe(100);
  expect(run.times.offsetAt(1999)).toBe(100);
  expect(run.times.offsetAt(2001)).toBe(600);
  using untimed = having("- 500\n");
  expect(untimed.times.offsetAt(9999)).toBe(0);
});

test("the pages of a long index cover all of it, across damage and up to an unfinished line", () => {
  const samples = Array.from({ length: 20_000 }, (_, i) => ({ at: 1_794_717_879_000 + i, offset: i }));
  const lines = samples.map(({ at, offset }) => `${at} ${offset}\n`);
  using run = having([...lines.slice(0, 9000), "\0".repeat(200_000), "\n", ...lines.slice(9000), "179471"].join(""));
  const read = [];
  let page = run.times.page(0);
  read.push(...page.samples);
  while (page.more) {
    page = run.times.page(page.next);
    read.push(...page.samples);
  }
  expect(read).toEqual(samples);
  appendFileSync(run.file, "7899000 20000\n");
  expect(run.times.page(page.next).samples).toEqual([{ at: 1_794_717_899_000, offset: 20_000 }]);
  using none = having();
  expect(none.times.page(0)).toEqual({ samples: [], next: 0, more: false });
});

test("the span is from the first time to the last, and is not shortened by a clock set back", () => {
  using run = having("- 5\n1000 10\n1500 20\n- 30\n900 30\n1900 40\n");
  expect(run.times.span()).toEqual({ startedAt: 1000, durationMs: 1500 });
  using none = having("- 5\n");
  expect(none.times.span()).toEqual({ startedAt: null, durationMs: 0 });
});

const DAY = 86_400_000;

test.each([
  { what: "back", step: -DAY },
  { what: "forward", step: DAY },
])("when the clock is set $what by a day, times continue as if it had not been", ({ step }) => {
  using run = having();
  const began = 2 * DAY;
  run.times.append({ at: began, offset: 10 });
  run.times.append({ at: began + 1000, offset: 20 });
  run.times.append({ at: began + step + 2000, offset: 30, step });
  run.times.append({ at: began + step + 3000, offset: 40 });
  expect(run.times.read().map(({ at }) => (at ?? 0) - began)).toEqual([0, 1000, 2000, 3000]);
  expect(run.times.span()).toEqual({ startedAt: began, durationMs: 3000 });
  expect(run.times.page(0).samples[2]).toEqual({ at: began + step + 2000, offset: 30, step });
  expect(run.times.last()).toEqual({ at: began + step + 3000, offset: 40 });
  // Queries for the last two and three seconds, when the new clock shows the time of the last sample.
  expect([1500, 2500].map((ago) => run.times.offsetAt(began + step + 3000 - ago))).toEqual([20, 10]);
});

test("times that go back without a recorded step continue from the last time", () => {
  using run = having("5000 10\n3000 20\n6000 30\n");
  expect(run.times.read().map(({ at }) => at)).toEqual([5000, 5000, 8000]);
});

test("thinning makes old times coarser, but keeps new ones, sizes, steps and stretches without times", () => {
  using run = having();
  const [began, count] = [1_794_717_879_000, 200_000];
  const exact: Record<number, Partial<Sample>> = {
    1000: { size: { columns: 80, rows: 24 } },
    2000: { step: -DAY },
    3000: { at: null },
    // A pause of an hour.
    4000: {},
  };
  let at = began;
  let largest = 0;
  for (let i = 0; i < count; i++) {
    at += i === 4001 ? 3_600_000 : 250;
    if (i === 2000) at -= DAY;
    run.times.append({ at, offset: i * 10, ...exact[i] });
    if (i % 1000 === 0) largest = Math.max(largest, statSync(run.file).size);
  }
  expect(largest).toBeLessThan(1.1 * (1 << 20));
  const kept = new Map(Array.from(allPages(run.times), (sample) => [sample.offset / 10, sample]));
  expect(kept.get(1000)?.size).toEqual({ columns: 80, rows: 24 });
  expect(kept.get(2000)?.step).toBe(-DAY);
  expect([2999, 3000, 3001].map((i) => kept.get(i)?.at === undefined)).toEqual([false, false, false]);
  expect(kept.get(3000)?.at).toBe(null);
  for (let i = count - 5000; i < count; i++) expect(kept.has(i)).toBe(true);
  // A new reader and the one whose file was thinned give the same answers.
  for (const times of [run.times, new Times(run.directory)]) {
    expect(times.sizes()).toEqual([{ offset: 10_000, columns: 80, rows: 24 }]);
    expect(times.span()).toEqual({ startedAt: began + 250, durationMs: (count - 1) * 250 + 3_600_000 - 250 });
  }
  // Output before the pause is still before it.
  const pause = began - DAY + 4001 * 250 + 1_800_000;
  expect(Math.abs(run.times.offsetAt(pause) / 10 - 4000)).toBeLessThanOrEqual(10);
});

test("a query continues from the previous one without reading the file again", () => {
  using run = having("1000 0 120x40\n1250 100\n");
  expect(run.times.span()).toEqual({ startedAt: 1000, durationMs: 250 });
  // Artificial: shows if the start of the file is read again.
  writeFileSync(run.file, "9999 0 999x99\n1250 100\n1500 200 80x24\n15");
  expect(run.times.sizes()).toEqual([
    { offset: 0, columns: 120, rows: 40 },
    { offset: 200, columns: 80, rows: 24 },
  ]);
  appendFileSync(run.file, "00 300\n2000 400\n");
  expect(run.times.span()).toEqual({ startedAt: 1000, durationMs: 1000 });
  run.times.forgetBefore(150);
  expect(run.times.span()).toEqual({ startedAt: 1250, durationMs: 750 });
});

test("a page that starts inside a line, after thinning, invents no sample", () => {
  using run = having("1794717879000 10\n1794717879250 20\n");
  expect(run.times.page(8).samples).toEqual([{ at: 1_794_717_879_250, offset: 20 }]);
  expect(run.times.page(17).samples).toEqual([{ at: 1_794_717_879_250, offset: 20 }]);
});

function* allPages(times: Times): Generator<Sample> {
  for (let after = 0, more = true; more; ) {
    const page = times.page(after);
    yield* page.samples;
    ({ next: after, more } = page);
  }
}

test("samples of deleted output are removed; the terminal size and a later clock step stay", () => {
  using run = having("1000 0 120x40\n1100 10\n1200 20 80x24\n1800 30 ~500\n- 40\n2000 40\n");
  run.times.forgetBefore(35);
  expect(readFileSync(run.file, "utf8")).toBe("1800 30 80x24 ~500\n- 40\n2000 40\n");
  run.times.append({ at: 2100, offset: 50 });
  expect(run.times.sizes()).toEqual([{ offset: 30, columns: 80, rows: 24 }]);
  expect(run.times.offsetAt(2050)).toBe(40);
  run.times.forgetBefore(5);
  expect(run.times.read()).toHaveLength(4);
});
