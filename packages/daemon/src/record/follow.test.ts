import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { appendGap } from "@holdfast/platform";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { firstGap, follow } from "./follow.ts";
import { Recording } from "./recording.ts";
import { RunWatch } from "./run-watch.ts";

/** A live run with the real recorder and small segments. */
class LiveRun implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly #recorder: ChildProcess;
  readonly recording = new Recording(this.#directory.path);
  #watch: RunWatch | undefined = new RunWatch({ directory: this.#directory.path, onExit: () => {} });

  constructor(segment = 1000) {
    this.#recorder = spawn("split", ["-b", String(segment), "-d", "-a", "6", "-", join(this.#directory.path, "output.")], {
      stdio: ["pipe", "ignore", "inherit"],
    });
  }

  follow(options: { offset?: number; signal?: AbortSignal } = {}): AsyncGenerator<Buffer> {
    const { offset = 0, signal = new AbortController().signal } = options;
    return follow({ recording: this.recording, offset, signal, watch: () => this.#watch, lives: () => this.#watch !== undefined });
  }

  say(bytes: Uint8Array): void {
    this.#recorder.stdin?.write(bytes);
  }

  /** In the product's order: the recorder first, then the watch. */
  async end(): Promise<void> {
    this.#recorder.stdin?.end();
    if (this.#recorder.exitCode === null) await once(this.#recorder, "close");
    const watch = this.#watch;
    this.#watch = undefined;
    watch?.[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    this.#directory.remove();
  }
}

async function all(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

test("a reader with nextGap stops before a gap, even one that appears while it waits", async () => {
  await using run = new LiveRun();
  const { directory } = run.recording;
  const signal = new AbortController().signal;
  const options = { recording: run.recording, signal, watch: () => undefined, lives: () => true };
  run.say(Buffer.from("before"));
  await vi.waitFor(() => expect(run.recording.size()).toBe(6));
  const reader = follow({ ...options, offset: 0, nextGap: (from) => firstGap(directory, from) });
  expect(String((await reader.next()).value)).toBe("before");
  const waiting = reader.next();
  appendGap(directory, { offset: 6, bytes: null, why: "x", at: null });
  run.say(Buffer.from("after"));
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(firstGap(directory, 7)).toBeUndefined();
  appendGap(directory, { offset: 3, bytes: null, why: "x", at: null });
  await vi.waitFor(() => expect(run.recording.size()).toBe(11));
  expect(String(await all(follow({ ...options, offset: 0, nextGap: (from) => firstGap(directory, from) })))).toBe("bef");
  expect(
    String(await all(follow({ ...options, lives: () => false, offset: 6, nextGap: (from) => firstGap(directory, Math.max(from, 7)) }))),
  ).toBe("after");
});

test("the reader gets every byte exactly once and in order while the recorder writes, from any offset", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3000), { minLength: 1, maxLength: 60, size: "max" }), fc.nat(500), async (sizes, offset) => {
      await using run = new LiveRun();
      const said: Buffer[] = [];
      const reads = [all(run.follow()), all(run.follow({ offset }))];
      for (const size of sizes) {
        const bytes = randomBytes(size);
        said.push(bytes);
        run.say(bytes);
        if (size % 3 === 0) await new Promise(setImmediate);
      }
      await run.end();
      const whole = Buffer.concat(said);
      expect((await reads[0])?.equals(whole)).toBe(true);
      expect((await reads[1])?.equals(whole.subarray(offset))).toBe(true);
    }),
    { numRuns: 6 },
  );
});

test("a reader gets existing output at once, then new output", async () => {
  await using run = new LiveRun();
  run.say(Buffer.from("before"));
  await vi.waitFor(() => expect(run.recording.size()).toBe(6));
  const chunks = run.follow();
  expect(String((await chunks.next()).value)).toBe("before");
  const next = chunks.next();
  run.say(Buffer.from("after"));
  expect(String((await next).value)).toBe("after");
  await run.end();
  expect((await chunks.next()).done).toBe(true);
});

test("a reader of an ended run gets the existing output and does not wait for more", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  writeFileSync(join(directory.path, "output.000000"), "x".repeat(600_000));
  const options = {
    recording: new Recording(directory.path),
    signal: new AbortController().signal,
    watch: () => undefined,
    lives: () => false,
  };
  expect(await all(follow({ ...options, offset: 1 }))).toHaveLength(599_999);
  expect(await all(follow({ ...options, offset: 600_000 }))).toHaveLength(0);
  expect(await all(follow({ ...options, offset: 700_000 }))).toHaveLength(0);
});

test("a reader stops waiting when its client disconnects", async () => {
  await using run = new LiveRun();
  const stop = new AbortController();
  const chunks = run.follow({ signal: stop.signal });
  const next = chunks.next();
  stop.abort();
  expect((await next).done).toBe(true);
});

test("a long read leaves no listener behind on its signal", async () => {
  await using run = new LiveRun();
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  let most = 0;
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  vi.spyOn(signal, "addEventListener").mockImplementation((...args: Parameters<typeof addEventListener>) => {
    most = Math.max(most, listeners.add(args[1]).size);
    addEventListener.apply(signal, args);
  });
  vi.spyOn(signal, "removeEventListener").mockImplementation((...args: Parameters<typeof removeEventListener>) => {
    listeners.delete(args[1]);
    removeEventListener.apply(signal, args);
  });
  const reading = all(run.follow({ signal }));
  for (let i = 1; i <= 200; i++) {
    run.say(Buffer.from("x"));
    await vi.waitFor(() => expect(run.recording.size()).toBe(i), { interval: 1 });
  }
  await run.end();
  expect(await reading).toHaveLength(200);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2);
  expect(listeners.size).toBe(0);
});

test("a reader at a deleted offset gets an error with the next offset, and no bytes", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const segment = (number: number) => join(directory.path, `output.00000${number}`);
  for (const number of [0, 1, 2]) writeFileSync(segment(number), String(number).repeat(1 << 20));
  const recording = new Recording(directory.path);
  const reader = follow({ recording, offset: 0, signal: new AbortController().signal, watch: () => undefined, lives: () => false });
  const first = await reader.next();
  expect(String(first.value?.subarray(0, 1))).toBe("0");
  for (const number of [0, 1]) rmSync(segment(number));
  await expect(reader.next()).rejects.toMatchObject({ code: "recording_cut", hint: `continue reading at ${2 << 20}` });
});
