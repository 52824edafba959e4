import type * as fs from "node:fs";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EntryDraft, parseEntry } from "@holdfast/contract/conversation/transcript";
import type { Principal } from "@holdfast/contract/ids";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Transcript } from "./transcript.ts";

/** Bytes that still fit on the disk. */
const disk = vi.hoisted(() => ({ room: Number.POSITIVE_INFINITY }));
vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  return {
    ...real,
    writeSync(file: number, bytes: Buffer) {
      if (disk.room === 0) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      const written = real.writeSync(file, bytes.subarray(0, Math.min(bytes.length, disk.room)));
      disk.room -= written;
      return written;
    },
  };
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hf-transcript-"));
  disk.room = Number.POSITIVE_INFINITY;
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

const file = () => join(directory, "transcript.jsonl");
const entries = () => readFileSync(file(), "utf8").split("\n").filter(Boolean).map(parseEntry);
const text = (words: string): EntryDraft => ({ type: "text", text: words });
const user = (message: string) => ({
  type: "user" as const,
  message,
  from: "user:x" as Principal,
  text: message,
  addition: null,
  steer: false,
});

test("an appended entry is on disk, numbered from 1, readable only by its owner", () => {
  using transcript = new Transcript(directory);
  expect(transcript.append(text("a"), null)).toBe(true);
  expect(transcript.appendOrRefuse(user("m1"), "m1")).toBe(true);
  expect(entries()).toMatchObject([
    { v: 1, n: 1, turn: null, type: "text" },
    { n: 2, turn: "m1", type: "user" },
  ]);
  expect([...transcript.said]).toEqual(["m1"]);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  transcript.finish();
});

test("a reopened transcript continues after its last whole line, without the torn one", () => {
  using first = new Transcript(directory);
  first.appendOrRefuse(user("m1"), "m1");
  first.append(text("a"), "m1");
  appendFileSync(file(), '{"v":1,"n":3,"type":"te');
  using second = new Transcript(directory);
  second.append(text("b"), "m1");
  expect(entries()).toMatchObject([
    { n: 1 },
    { n: 2, text: "a" },
    { n: 3, type: "note", about: "recovered", text: expect.stringContaining(" 23 bytes ") },
    { n: 4, text: "b" },
  ]);
  expect([...second.said]).toEqual(["m1"]);
});

test("a file that is one torn line starts again, and damaged lines keep their numbers", () => {
  writeFileSync(file(), '{"v":1,"n"');
  using torn = new Transcript(directory);
  torn.append(text("a"), null);
  appendFileSync(file(), "nonsense\n\n");
  using damaged = new Transcript(directory);
  damaged.append(text("b"), null);
  expect(entries()).toMatchObject([{ n: 1, about: "recovered" }, { n: 2, text: "a" }, "damaged", { n: 4, text: "b" }]);
});

test("a prompt on a full disk is refused, and no part of it stays in the file", () => {
  using transcript = new Transcript(directory);
  transcript.append(text("a"), null);
  for (const room of [0, 1, 40]) {
    disk.room = room;
    expect(transcript.appendOrRefuse(user("m1"), "m1")).toBe(false);
    expect(entries()).toMatchObject([{ n: 1 }]);
  }
  expect(transcript.said.size).toBe(0);
  disk.room = Number.POSITIVE_INFINITY;
  expect(transcript.appendOrRefuse(user("m1"), "m1")).toBe(true);
  expect(entries()).toMatchObject([{ n: 1 }, { n: 2, message: "m1" }]);
});

test("an agent's entries wait in order while the disk is full, a partial line is completed, and prompts are refused meanwhile", () => {
  vi.useFakeTimers();
  using transcript = new Transcript(directory);
  disk.room = 30;
  expect(transcript.append(text("a"), "m1")).toBe(false);
  expect(transcript.append(text("b"), "m1")).toBe(false);
  expect(statSync(file()).size).toBe(30);
  expect(transcript.appendOrRefuse(user("m2"), "m2")).toBe(false);
  expect(() => transcript.finish()).toThrow("waits for disk space");
  vi.advanceTimersByTime(250);
  expect(statSync(file()).size).toBe(30);
  disk.room = Number.POSITIVE_INFINITY;
  vi.advanceTimersByTime(250);
  expect(entries()).toMatchObject([
    { n: 1, text: "a" },
    { n: 2, text: "b" },
  ]);
  transcript.finish();
  expect(transcript.append(text("c"), "m1")).toBe(true);
  expect(entries()).toMatchObject([{ n: 1 }, { n: 2 }, { n: 3, text: "c" }]);
});

test("a keeper limits the entries that wait for disk space, and notes the lost ones", () => {
  using transcript = new Transcript(directory);
  disk.room = 0;
  const much = "x".repeat(1024 * 1024);
  for (let count = 0; count < 40; count++) transcript.append(text(much), null);
  disk.room = Number.POSITIVE_INFINITY;
  expect(transcript.append(text("after"), null)).toBe(true);
  const kept = entries();
  expect(kept.length).toBeGreaterThan(30);
  expect(kept.length).toBeLessThan(36);
  expect(kept.map((entry) => (typeof entry === "object" ? entry.n : entry))).toEqual(kept.map((_, index) => index + 1));
  expect(kept.slice(-2)).toMatchObject([
    { type: "note", about: "lost", text: expect.stringContaining(` ${42 - kept.length} entries were lost`) },
    { type: "text", text: "after" },
  ]);
});
