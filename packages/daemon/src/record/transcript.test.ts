import {
  appendFileSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UnnumberedEntry } from "@holdfast/contract";
import { expect, test } from "vitest";
import { TranscriptFile } from "./transcript.ts";

const AT = "2026-11-15T12:00:00.000Z";

class Place implements Disposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-transcript-"));
  readonly path = join(this.#directory.path, "sessions", "aaaaaaaaaa", "runs", "3");
  readonly aside = join(this.#directory.path, "damaged");
  readonly file: TranscriptFile;

  constructor(content?: string) {
    mkdirSync(this.path, { recursive: true });
    this.file = new TranscriptFile(this.path);
    if (content !== undefined) writeFileSync(this.file.path, content);
  }

  get content(): string {
    return readFileSync(this.file.path, "utf8");
  }

  texts(from = 0, until?: number): string[] {
    return [...this.file.read(from, until)].map((read) => ("entry" in read && read.entry.type === "text" ? read.entry.text : "damaged"));
  }

  [Symbol.dispose](): void {
    this.#directory.remove();
  }
}

const text = (n: number, words = `t${n}`) => `${JSON.stringify({ v: 1, n, at: AT, turn: null, type: "text", text: words })}\n`;
const ended: UnnumberedEntry = { v: 1, at: AT, turn: "m1", type: "turn_ended", reason: "interrupted" };

test("entries are read from any offset; an offset inside a line means the next line", () => {
  using place = new Place(text(1) + text(2) + text(3));
  expect(place.texts()).toEqual(["t1", "t2", "t3"]);
  const [first, second] = [...place.file.read(0)];
  expect(first?.end).toBe(text(1).length);
  expect(place.texts(first?.end)).toEqual(["t2", "t3"]);
  expect(place.texts((first?.end ?? 0) + 1)).toEqual(["t3"]);
  expect(place.texts(1)).toEqual(["t2", "t3"]);
  expect(place.texts(0, second?.end)).toEqual(["t1", "t2"]);
  expect(place.texts(place.file.size())).toEqual([]);
  expect(place.texts(place.file.size() + 100)).toEqual([]);
});

test("an unfinished line is not read until it is complete", () => {
  using place = new Place(text(1) + text(2).slice(0, 20));
  expect(place.texts()).toEqual(["t1"]);
  appendFileSync(place.file.path, text(2).slice(20));
  expect(place.texts(text(1).length)).toEqual(["t2"]);
});

test("lines longer than one read are read whole, including multibyte characters", () => {
  const long = "€".repeat(900_000);
  using place = new Place(text(1, long) + text(2) + text(3, long));
  expect(place.texts()).toEqual([long, "t2", long]);
  const ends = [...place.file.read(0)].map(({ end }) => end);
  expect(ends).toEqual(
    [text(1, long), text(1, long) + text(2), text(1, long) + text(2) + text(3, long)].map((each) => Buffer.byteLength(each)),
  );
});

test("unreadable lines are reported and skipped; lines of a newer version are not damage", () => {
  using place = new Place(`${text(1)}\0\0\0\n\n{"v":2,"type":"hologram"}\n{"v":1,"type":"text"}\n${text(5)}`);
  expect(place.texts()).toEqual(["t1", "damaged", "damaged", "t5"]);
});

test("a missing transcript yields nothing; a directory in its place is an error", () => {
  using place = new Place();
  expect(place.texts()).toEqual([]);
  expect(place.file.size()).toBe(0);
  expect(place.file.cutTorn()).toBeUndefined();
  mkdirSync(place.file.path);
  expect(() => place.texts()).toThrow();
});

test("a torn line is cut off wherever it starts, and the closing entries continue the numbering", () => {
  using place = new Place(`${text(1)}${text(7)}{"v":1,"n":8,"ty`);
  expect(place.file.cutTorn()).toEqual({ offset: text(1).length + text(7).length, bytes: 16 });
  expect(place.file.cutTorn()).toBeUndefined();
  place.file.close([ended, ended]);
  expect([...place.file.read(0)].map((read) => ("entry" in read ? read.entry.n : 0))).toEqual([1, 7, 8, 9]);
  place.file.close([]);
  expect(place.content.split("\n")).toHaveLength(5);
});

test("a torn line longer than one read is cut off completely, so later entries are not joined to it", () => {
  const torn = text(2, "x".repeat(3_000_000)).slice(0, 2_500_000);
  using place = new Place(text(1) + torn);
  expect(place.file.cutTorn()).toEqual({ offset: text(1).length, bytes: torn.length });
  place.file.close([ended]);
  expect([...place.file.read(0)].map((read) => ("entry" in read ? read.entry.type : "damaged"))).toEqual(["text", "turn_ended"]);
});

test("a file with only a torn line becomes empty, and a new file is readable by its owner only", () => {
  using place = new Place('{"v":1');
  expect(place.file.cutTorn()).toEqual({ offset: 0, bytes: 6 });
  expect(place.content).toBe("");
  using other = new Place();
  other.file.close([ended]);
  expect(statSync(other.file.path).mode & 0o777).toBe(0o600);
});

test("a damaged file is set aside unchanged and replaced by its readable lines, in order", () => {
  const content = `${text(1)}garbage\n{"v":2,"type":"hologram"}\n{"v":1,"type":"text"}\n${text(5)}`;
  using place = new Place(content);
  const mended = place.file.mend(place.aside);
  expect(mended).toEqual({
    lines: 2,
    bytes: expect.any(Number),
    aside: expect.stringMatching(/damaged\/transcript-aaaaaaaaaa-3-.*\.jsonl$/),
  });
  expect(readFileSync(mended?.aside ?? "", "utf8")).toBe(content);
  expect(place.content).toBe(`${text(1)}{"v":2,"type":"hologram"}\n${text(5)}`);
  expect(place.file.mend(place.aside)).toBeUndefined();
  expect(readdirSync(place.aside)).toHaveLength(1);
});

test("an undamaged file is not changed", () => {
  using place = new Place(text(1));
  expect(place.file.mend(place.aside)).toBeUndefined();
  expect(place.content).toBe(text(1));
});

test("a line longer than any keeper writes is damage, and is not held in memory (mend 4)", () => {
  using place = new Place(text(1));
  truncateSync(place.file.path, 300 << 20);
  appendFileSync(place.file.path, `\n${text(2)}${text(3, "x".repeat(3 << 20))}`);
  const before = process.memoryUsage().arrayBuffers;
  const read = place.texts();
  expect(read.slice(0, 3)).toEqual(["t1", "damaged", "t2"]);
  expect(read[3]).toHaveLength(3 << 20);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(250 << 20);
});
