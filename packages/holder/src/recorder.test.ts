import { mkdirSync, mkdtempDisposableSync, readFileSync, rmdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readGaps } from "@holdfast/platform/gaps";
import { expect, test } from "vitest";
import { Recorder } from "./recorder.ts";

const MEGABYTE = 1 << 20;

test("output is recorded completely, in segments of a megabyte", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const recorder = new Recorder(directory.path);
  expect(recorder.append(Buffer.alloc(MEGABYTE + 3, "a"))).toBe(MEGABYTE + 3);
  expect(recorder.append(Buffer.from("b"))).toBe(1);
  recorder.finish();
  expect(readFileSync(join(directory.path, "output.000000")).length).toBe(MEGABYTE);
  expect(readFileSync(join(directory.path, "output.000001"), "utf8")).toBe("aaab");
  expect(readGaps(directory.path)).toEqual([]);
});

test("unwritable output is counted, and a gap with its size is recorded where the recording continues", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const recorder = new Recorder(directory.path);
  const next = join(directory.path, "output.000001");
  mkdirSync(next);
  expect(recorder.append(Buffer.alloc(MEGABYTE + 3))).toBe(MEGABYTE);
  expect(recorder.append(Buffer.from("lost"))).toBe(0);
  expect(readGaps(directory.path)).toEqual([]);
  rmdirSync(next);
  expect(recorder.append(Buffer.from("goes on"))).toBe(7);
  expect(readFileSync(next, "utf8")).toBe("goes on");
  expect(readGaps(directory.path)).toEqual([
    { offset: MEGABYTE, bytes: 7, why: expect.stringContaining("EISDIR"), at: expect.any(Number) },
  ]);
});

test("a gap at the end is recorded as soon as the disk allows it", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  // Writes to this link fail as on a full disk.
  symlinkSync("/dev/full", join(directory.path, "output.000000"));
  const gaps = join(directory.path, "gaps");
  mkdirSync(gaps);
  const recorder = new Recorder(directory.path);
  expect(recorder.append(Buffer.from("lost"))).toBe(0);
  expect(() => recorder.finish()).toThrow("EISDIR");
  rmdirSync(gaps);
  recorder.finish();
  expect(readGaps(directory.path)).toEqual([{ offset: 0, bytes: 4, why: "the disk was full", at: expect.any(Number) }]);
});

test("a gap is recorded before the output after it, and a growing gap keeps its full size", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const segment = join(directory.path, "output.000000");
  // A disk that refuses the program's output, but takes the line about the gap.
  symlinkSync("/dev/full", segment);
  const recorder = new Recorder(directory.path);
  const began = Date.now();
  for (const text of ["lost", "this too", "and this"]) expect(recorder.append(Buffer.from(text))).toBe(0);
  expect(readGaps(directory.path)).toEqual([{ offset: 0, bytes: 4, why: "the disk was full", at: expect.any(Number) }]);
  recorder.finish();
  const [gap] = readGaps(directory.path);
  expect(gap).toMatchObject({ offset: 0, bytes: 20 });
  expect(gap?.at).toBeGreaterThanOrEqual(began);
  // Not a line for each attempt.
  expect(readFileSync(join(directory.path, "gaps"), "utf8").match(/offset/g)).toHaveLength(2);
});
