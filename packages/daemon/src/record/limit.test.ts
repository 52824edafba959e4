import { appendFileSync, mkdtempDisposableSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SEGMENT_BYTES } from "@holdfast/platform";
import fc from "fast-check";
import { expect, test } from "vitest";
import { keepToLimit } from "./limit.ts";
import { Recording } from "./recording.ts";

const MB = SEGMENT_BYTES;

/** A recording of full segments with known content. */
class Written implements Disposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly path = this.#directory.path;
  readonly recording = new Recording(this.path);
  #all = Buffer.alloc(0);
  #prefix = "output.";
  #generation = 0;
  #segment = 0;
  #used = 0;

  get all(): Buffer {
    return this.#all;
  }

  /** Writes like a recorder. */
  write(length: number): void {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; at++) bytes[at] = ((this.#all.length + at) * 31) >> 3;
    this.#all = Buffer.concat([this.#all, bytes]);
    for (let at = 0; at < length; ) {
      if (this.#used === MB) this.#next(this.#segment + 1);
      const piece = bytes.subarray(at, at + MB - this.#used);
      appendFileSync(join(this.path, `${this.#prefix}${String(this.#segment).padStart(6, "0")}`), piece);
      at += piece.length;
      this.#used += piece.length;
    }
  }

  #next(segment: number): void {
    this.#segment = segment;
    this.#used = 0;
  }

  /** Simulates a dead recorder and its replacement. */
  replaceRecorder(): void {
    this.#prefix = `output-${String(++this.#generation).padStart(3, "0")}.`;
    this.#next(0);
  }

  files(): string[] {
    return readdirSync(this.path).sort();
  }

  [Symbol.dispose](): void {
    this.#directory.remove();
  }
}

test("only a recording above its limit loses its oldest segments, and offsets do not change", () => {
  using run = new Written();
  run.write(8 * MB + 5);
  expect(keepToLimit(run.recording, { limit: 8 * MB + 5 })).toBeUndefined();
  expect(run.recording.begins()).toBe(0);
  expect(keepToLimit(run.recording, { limit: 8 * MB })).toBe(2 * MB);
  expect([run.recording.begins(), run.recording.size()]).toEqual([2 * MB, 8 * MB + 5]);
  expect(run.files()).not.toContain("cut");
  expect(run.recording.read(2 * MB, 10 * MB).equals(run.all.subarray(2 * MB))).toBe(true);
  expect(run.recording.read(3 * MB - 2, 4).equals(run.all.subarray(3 * MB - 2, 3 * MB + 2))).toBe(true);
});

test("reading before the start returns nothing, and next() returns where the recording starts", () => {
  using run = new Written();
  run.write(6 * MB);
  keepToLimit(run.recording, { limit: 4 * MB });
  expect(run.recording.begins()).toBe(3 * MB);
  expect(run.recording.read(0, 100)).toHaveLength(0);
  expect(run.recording.read(3 * MB - 1, 100)).toHaveLength(0);
  expect([0, 3 * MB - 1, 3 * MB, 5 * MB, 6 * MB, 9 * MB].map((offset) => run.recording.next(offset))).toEqual([
    3 * MB,
    3 * MB,
    3 * MB,
    5 * MB,
    6 * MB,
    9 * MB,
  ]);
});

test("a flood causes few cuts: each removes an eighth of the limit, not one segment", () => {
  using run = new Written();
  let cuts = 0;
  run.write(32 * MB);
  for (let written = 0; written < 16; written++) {
    run.write(MB);
    if (keepToLimit(run.recording, { limit: 32 * MB }) !== undefined) cuts++;
    expect(run.recording.size() - run.recording.begins()).toBeLessThanOrEqual(32 * MB);
  }
  expect(cuts).toBeLessThanOrEqual(4);
  expect(cuts).toBeGreaterThan(0);
});

test("a file records the start offset if the cut reaches a replacement recorder's segments", () => {
  using run = new Written();
  run.write(2 * MB + 700);
  run.replaceRecorder();
  run.write(5 * MB);
  expect(keepToLimit(run.recording, { limit: 4 * MB })).toBe(4 * MB + 700);
  expect(readFileSync(join(run.path, "cut"), "utf8")).toBe(`${4 * MB + 700} output-001.000002\n`);
  expect(run.recording.read(4 * MB + 700, 9 * MB).equals(run.all.subarray(4 * MB + 700))).toBe(true);
  run.replaceRecorder();
  run.write(10);
  expect([run.recording.size(), run.recording.nextPrefix()]).toEqual([7 * MB + 710, "output-003."]);
});

test("the last segment stays, even with a tiny limit", () => {
  using run = new Written();
  run.write(3 * MB + 10);
  expect(keepToLimit(run.recording, { limit: 1 })).toBe(3 * MB);
  expect(keepToLimit(run.recording, { limit: 1 })).toBeUndefined();
});

test("a cut counts as done once its offset is written, even if the daemon died before deleting", () => {
  using run = new Written();
  run.write(MB + 9);
  run.replaceRecorder();
  run.write(4 * MB);
  writeFileSync(join(run.path, "cut"), `${2 * MB + 9} output-001.000001\n`);
  expect([run.recording.begins(), run.recording.size()]).toEqual([2 * MB + 9, 5 * MB + 9]);
  expect(run.recording.read(MB, 10)).toHaveLength(0);
});

test.each(["", "12", "x output.000001\n", "7 output.00", "\0\0\0\0"])("a torn cut file %j is ignored", (text) => {
  using run = new Written();
  run.write(5 * MB);
  keepToLimit(run.recording, { limit: 3 * MB });
  writeFileSync(join(run.path, "cut"), text);
  expect(run.recording.begins()).toBe(3 * MB);
  expect(run.recording.read(3 * MB, 9 * MB).equals(run.all.subarray(3 * MB))).toBe(true);
});

test("a missing segment leaves a gap, and no byte moves into it", () => {
  using run = new Written();
  run.write(4 * MB);
  rmSync(join(run.path, "output.000001"));
  expect(run.recording.size()).toBe(4 * MB);
  expect(run.recording.read(MB - 2, 10).equals(run.all.subarray(MB - 2, MB))).toBe(true);
  expect(run.recording.read(MB, 10)).toHaveLength(0);
  expect(run.recording.next(MB)).toBe(2 * MB);
  expect(run.recording.read(2 * MB, 10).equals(run.all.subarray(2 * MB, 2 * MB + 10))).toBe(true);
});

test("after any writes, recorder replacements and cuts, every offset has its byte", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("write" as const), length: fc.integer({ min: 1, max: 2 * MB }) }),
    fc.record({ do: fc.constant("replace" as const) }),
    fc.record({ do: fc.constant("cut" as const), limit: fc.integer({ min: MB, max: 5 * MB }) }),
  );
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 2, maxLength: 10 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }),
      (steps, places) => {
        using run = new Written();
        for (const each of steps) {
          if (each.do === "write") run.write(each.length);
          else if (each.do === "replace") run.replaceRecorder();
          else keepToLimit(run.recording, { limit: each.limit });
        }
        const begins = run.recording.begins();
        expect(run.recording.size()).toBe(run.all.length);
        for (const place of [0, ...places]) {
          const offset = begins + Math.floor((run.all.length - begins) * place);
          expect(run.recording.read(offset, 100_000).equals(run.all.subarray(offset, offset + 100_000))).toBe(true);
        }
      },
    ),
    { numRuns: 30 },
  );
});

test("the next cut deletes the leftovers of a daemon that died during a cut", () => {
  using run = new Written();
  run.write(2 * MB + 5);
  run.replaceRecorder();
  run.write(2 * MB);
  const leftover = readFileSync(join(run.path, "output.000001"));
  expect(keepToLimit(run.recording, { limit: 3 * MB })).toBe(2 * MB + 5);
  expect(run.files()).toEqual(["cut", "output-001.000000", "output-001.000001"]);
  writeFileSync(join(run.path, "output.000001"), leftover);
  expect(keepToLimit(run.recording, { limit: 3 * MB })).toBeUndefined();
  expect(run.files()).toEqual(["cut", "output-001.000000", "output-001.000001"]);
  expect(run.recording.begins()).toBe(2 * MB + 5);
});
