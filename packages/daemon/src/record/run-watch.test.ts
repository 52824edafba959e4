import { appendFileSync, mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { RunWatch } from "./run-watch.ts";

/** A run's directory and the watch on it, opened by `watch`. */
function run(files: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const watches: RunWatch[] = [];
  const file = (name: string) => join(directory.path, name);
  for (const [name, content] of Object.entries(files)) writeFileSync(file(name), content);
  return {
    path: directory.path,
    watch(onExit: () => void = () => {}, limit?: { limit: number; beforeCut?(paths: string[]): void }): RunWatch {
      const watch = new RunWatch({ directory: directory.path, onExit, ...limit });
      watches.push(watch);
      return watch;
    },
    say: (text: string) => appendFileSync(file("output.000000"), text),
    put(name: string, content: string): void {
      writeFileSync(file(`${name}.tmp`), content);
      renameSync(file(`${name}.tmp`), file(name));
    },
    times: () => readFileSync(file("times.idx"), "utf8"),
    [Symbol.dispose](): void {
      for (const watch of watches) watch[Symbol.dispose]();
      directory.remove();
    },
  };
}

const never = new AbortController().signal;

test("steady output is sampled at most four times a second, and the last sample includes the last byte", async () => {
  using r = run();
  const watch = r.watch();
  while (watch.times.read().length < 4) {
    r.say("x".repeat(100));
    await delay(10);
  }
  const size = watch.recording.size();
  await vi.waitFor(() => expect(watch.times.sampled()).toBe(size));
  const samples = watch.times.read();
  const gaps = samples.slice(1).map(({ at }, i) => (at ?? 0) - (samples[i]?.at ?? 0));
  expect(gaps.length).toBeGreaterThan(1);
  // Two clocks are involved: the timer's, and the wall clock that is written.
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(240);
  const text = r.times();
  watch[Symbol.dispose]();
  expect(r.times()).toBe(text);
});

test("sampling continues across segments and replacement recorders", async () => {
  using r = run();
  const watch = r.watch();
  let size = 0;
  for (const segment of ["output.000000", "output.000001", "output-001.000000"]) {
    for (const text of ["first", "and more"]) {
      appendFileSync(join(r.path, segment), text);
      size += text.length;
      await vi.waitFor(() => expect(watch.times.sampled()).toBe(size));
    }
  }
});

test("output from a time without a watch is marked once as of unknown time", () => {
  using r = run({ "output.000000": "0123456789", "times.idx": "1000 3\n" });
  r.watch()[Symbol.dispose]();
  r.watch()[Symbol.dispose]();
  // The time is unknown, but before the watch started.
  expect(r.times()).toMatch(/^1000 3\n- 10\n\d{13} 10\n$/);
});

test("there is no mark if everything was sampled", () => {
  using r = run({ "output.000000": "012", "times.idx": "1000 3\n" });
  r.watch()[Symbol.dispose]();
  expect(r.times()).toBe("1000 3\n");
});

test("the last bytes are sampled when the watch ends", () => {
  using r = run();
  const watch = r.watch();
  r.say("the end");
  watch[Symbol.dispose]();
  expect(r.times()).toMatch(/^\d+ 7\n$/);
});

test("the end is noticed when exit.json appears, and when it already exists", async () => {
  using late = run();
  const noticed = vi.fn();
  late.watch(noticed);
  late.put("exit.json", "{}");
  await vi.waitFor(() => expect(noticed).toHaveBeenCalled());

  using early = run({ "exit.json": "{}" });
  const noticedToo = vi.fn();
  early.watch(noticedToo);
  expect(noticedToo).not.toHaveBeenCalled();
  await Promise.resolve();
  expect(noticedToo).toHaveBeenCalledOnce();
});

test("a disposed watch does not call back", async () => {
  using r = run({ "exit.json": "{}" });
  const noticed = vi.fn();
  r.watch(noticed)[Symbol.dispose]();
  const noticedByOther = vi.fn();
  r.watch(noticedByOther);
  r.put("exit.json", "{}");
  await vi.waitFor(() => expect(noticedByOther.mock.calls.length).toBeGreaterThan(1));
  expect(noticed).not.toHaveBeenCalled();
});

test("a size change is recorded at its offset, and an invalid size is ignored", async () => {
  using r = run();
  const watch = r.watch();
  r.say("12345");
  r.put("size", "100 30\n");
  await vi.waitFor(() => expect(watch.times.sizes()).toEqual([{ offset: 5, columns: 100, rows: 30 }]));
  r.put("size", "many 30\n");
  r.put("size", "80 24\n");
  await vi.waitFor(() => expect(watch.times.sizes().at(-1)).toEqual({ offset: 5, columns: 80, rows: 24 }));
  expect(watch.times.read().every(({ size }) => size === undefined || size.columns > 0)).toBe(true);
});

test("output wakes readers and counts as activity; other files do not", async () => {
  using r = run();
  const watch = r.watch();
  expect(watch.lastActivity).toBeNull();
  let woken = false;
  const waiting = watch.changed(never).then(() => {
    woken = true;
  });
  r.put("recorder", "1");
  // Notices arrive in order: once the size change is here, the earlier one was ignored.
  r.put("size", "80 24\n");
  await vi.waitFor(() => expect(watch.times.sizes()).toHaveLength(1));
  expect([woken, watch.lastActivity]).toEqual([false, null]);
  const before = Date.now();
  r.say("x");
  await waiting;
  expect(watch.lastActivity).toBeGreaterThanOrEqual(before);
});

test("a reader is woken when the watch ends and when its signal aborts", async () => {
  using r = run();
  const watch = r.watch();
  const stop = new AbortController();
  const aborted = watch.changed(stop.signal);
  const ended = watch.changed(never);
  stop.abort();
  await aborted;
  await watch.changed(stop.signal);
  watch[Symbol.dispose]();
  await ended;
  await watch.changed(never);
});

test("readers are woken and the end is noticed even if times cannot be written", async () => {
  using r = run();
  const complaint = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  mkdirSync(join(r.path, "times.idx"));
  const noticed = vi.fn();
  const watch = r.watch(noticed);
  const waiting = watch.changed(never);
  for (let i = 0; i < 3; i++) r.say("x");
  await waiting;
  r.put("size", "100 30\n");
  r.put("exit.json", "{}");
  await vi.waitFor(() => expect(noticed).toHaveBeenCalled());
  watch[Symbol.dispose]();
  expect(complaint).toHaveBeenCalledOnce();
  expect(String(complaint.mock.calls[0]?.[0])).toContain("no times for");
  complaint.mockRestore();
});

test("removing the directory under the watch does no harm", async () => {
  using r = run({ "output.000000": "x", size: "80 24\n" });
  const complaint = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const watch = r.watch();
  const waiting = watch.changed(never);
  rmSync(r.path, { recursive: true });
  await waiting;
  watch[Symbol.dispose]();
  complaint.mockRestore();
});

const MB = 1 << 20;

test("output beyond the limit from a time without a daemon is cut at once, after beforeCut", () => {
  using r = run(Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`output.00000${i}`, "x".repeat(MB)])));
  const old: string[][] = [];
  const watch = r.watch(undefined, { limit: 4 * MB, beforeCut: (paths) => old.push(paths.map((path) => path.slice(-1))) });
  expect(watch.begins).toBe(5 * MB);
  expect(old).toEqual([["0", "1", "2", "3", "4"]]);
  expect([watch.recording.begins(), watch.recording.size(), watch.times.sampled()]).toEqual([5 * MB, 8 * MB, 8 * MB]);
});

test.each([
  { what: "what grows beyond the limit is cut as it grows", limit: 3 * MB, begins: 5 * MB },
  { what: "without a limit everything stays", limit: 0, begins: 0 },
])("$what", async ({ limit, begins }) => {
  using r = run();
  const watch = r.watch(undefined, { limit });
  for (let i = 0; i < 6; i++) r.put(`output.00000${i}`, "x".repeat(MB));
  await vi.waitFor(() => expect(watch.times.sampled()).toBeGreaterThan(3 * MB));
  r.put("output.000006", "x".repeat(MB));
  await vi.waitFor(() => expect(watch.times.sampled()).toBe(7 * MB));
  expect(watch.begins).toBeGreaterThanOrEqual(limit === 0 ? 0 : 4 * MB);
  expect(watch.begins).toBeLessThanOrEqual(begins);
  expect(watch.recording.begins()).toBe(watch.begins);
});

test("a clock set back while no daemon ran becomes a step, not a time that goes back", () => {
  const later = Date.now() + 86_400_000;
  using r = run({ "output.000000": "more", "times.idx": `${later - 1000} 1\n${later} 2\n` });
  const { times } = r.watch();
  const [, , unknown, last] = times.read();
  expect(unknown).toEqual({ at: null, offset: 4 });
  expect((last?.at ?? 0) - later).toBeGreaterThanOrEqual(0);
  expect((last?.at ?? 0) - later).toBeLessThan(5000);
});

test("the idle time does not depend on the wall clock", () => {
  using r = run({ "output.000000": "x" });
  const watch = r.watch();
  const before = watch.idleMs() ?? Number.NaN;
  const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 86_400_000);
  const after = watch.idleMs() ?? Number.NaN;
  clock.mockRestore();
  expect(after - before).toBeLessThan(5000);
});

test("a new daemon deletes the leftovers of an interrupted cut, even below the limit", () => {
  using r = run({ cut: "1000 output-001.000000\n", "output.000000": "left", "output-001.000000": "kept" });
  const watch = r.watch();
  expect(readdirSync(r.path).filter((name) => name.startsWith("output"))).toEqual(["output-001.000000"]);
  expect(watch.begins).toBe(1000);
});
