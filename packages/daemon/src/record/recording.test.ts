import { mkdirSync, mkdtempDisposableSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Recording } from "./recording.ts";

/** Creates a run's directory with these files. */
function having(files: Readonly<Record<string, string>>) {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory.path, name), content);
  return { recording: new Recording(directory.path), directory, [Symbol.dispose]: () => directory.remove() };
}

test("a run without output or directory has an empty recording", () => {
  using none = having({});
  for (const recording of [none.recording, new Recording(join(none.directory.path, "nowhere"))]) {
    expect([recording.size(), recording.lastActivity(), recording.nextPrefix()]).toEqual([0, null, "output-001."]);
    expect(recording.read(0, 10)).toHaveLength(0);
  }
});

test("offsets count across segments, then across those of replacement recorders", () => {
  using run = having({
    "output.000000": "abc",
    "output.000001": "de",
    "output-001.000000": "fg",
    "output-001.000001": "",
    "output-002.000000": "h",
  });
  expect(run.recording.size()).toBe(8);
  expect(String(run.recording.read(0, 100))).toBe("abcdefgh");
  expect(String(run.recording.read(2, 4))).toBe("cdef");
  expect(String(run.recording.read(5, 1))).toBe("f");
  expect(run.recording.read(8, 10)).toHaveLength(0);
  expect(run.recording.read(1000, 10)).toHaveLength(0);
});

test("files that are not segments are ignored", () => {
  using run = having({
    "output.000000": "abc",
    "output.0000": "x",
    "output.txt": "x",
    "output-1.000000": "x",
    "times.idx": "x",
    output: "x",
  });
  expect(String(run.recording.read(0, 100))).toBe("abc");
});

test("segments are sorted by number, even beyond a million", () => {
  using run = having({ "output.1000000": "c", "output.999999": "b", "output.999998": "a" });
  expect(String(run.recording.read(run.recording.begins(), 100))).toBe("abc");
});

test("a replacement recorder gets an unused prefix", () => {
  using run = having({ "output.000000": "", "output-001.000000": "", "output-007.000003": "" });
  expect(run.recording.nextPrefix()).toBe("output-008.");
});

test("the last activity is the time of the last segment", () => {
  using run = having({ "output.000000": "a", "output.000001": "b" });
  utimesSync(join(run.directory.path, "output.000000"), 2000, 2000);
  utimesSync(join(run.directory.path, "output.000001"), 1000, 1000);
  expect(run.recording.lastActivity()).toBe(1_000_000);
});

test("two adjacent reads return the same bytes as one read", () => {
  using run = having({});
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 8 }), { maxLength: 6 }), fc.nat(50), fc.nat(50), (segments, from, length) => {
      using other = having(Object.fromEntries(segments.map((text, i) => [`output.${String(i).padStart(6, "0")}`, text])));
      const whole = Buffer.from(segments.join(""));
      const first = other.recording.read(from, length);
      const second = other.recording.read(from + first.length, 1000);
      expect(Buffer.concat([first, second])).toEqual(whole.subarray(from));
    }),
  );
  expect(run.recording.size()).toBe(0);
});

test("a small read of a large recording does not allocate memory for the maximum", () => {
  using run = having({ "output.000000": "abc" });
  expect(run.recording.read(0, 256 * 1024).buffer.byteLength).toBeLessThan(256 * 1024);
});

test("a directory among the segments is an error", () => {
  using run = having({ "output.000000": "abc" });
  mkdirSync(join(run.directory.path, "output.000001"));
  expect(() => run.recording.read(0, 100)).toThrow("EISDIR");
});

test("reading finished segments does not list the directory; reading the growing one does", () => {
  using run = having({ "output.000000": "abc", "output.000001": "de", "output.000002": "f" });
  expect(String(run.recording.read(0, 2))).toBe("ab");
  const broken = join(run.directory.path, "output.000003");
  symlinkSync(broken, broken);
  expect(String(run.recording.read(2, 3))).toBe("cde");
  expect(() => run.recording.read(2, 4)).toThrow("ELOOP");
  rmSync(broken);
  writeFileSync(join(run.directory.path, "output.000002"), "fgh");
  expect([String(run.recording.read(2, 10)), run.recording.size()]).toEqual(["cdefgh", 8]);
});
