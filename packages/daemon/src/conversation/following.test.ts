import { appendFileSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { TranscriptFile } from "../record/transcript.ts";
import { Following } from "./following.ts";

const AT = "2026-11-15T12:00:00.000Z";

function line(n: number, type: string, more: object): string {
  return `${JSON.stringify({ v: 1, n, at: AT, turn: "m1", type, ...more })}\n`;
}

const user = line(1, "user", { message: "m1", from: "user:x", text: "go", addition: null, steer: false });
const word = (n: number) => line(n, "text", { text: `t${n}` });

test("each entry is returned once, as it arrives, skipping unreadable lines", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-following-"));
  const file = new TranscriptFile(directory.path);
  const following = new Following({ file, run: { session: "aaaaaaaaaa" as SessionId, run: 1 }, known: 0 });
  const given = () => [...following.next()].map(({ entry }) => entry.n);
  expect(given()).toEqual([]);
  appendFileSync(file.path, user + word(2).slice(0, 10));
  expect(given()).toEqual([1]);
  expect(given()).toEqual([]);
  appendFileSync(file.path, `${word(2).slice(10)}damaged\n${word(4)}`);
  expect(given()).toEqual([2, 4]);
  expect(given()).toEqual([]);
});

test("entries known to the journal are not returned again, but still show which turn runs", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-following-"));
  const file = new TranscriptFile(directory.path);
  appendFileSync(file.path, user + word(2) + word(3));
  const following = new Following({ file, run: { session: "aaaaaaaaaa" as SessionId, run: 1 }, known: (user + word(2)).length });
  expect([...following.next()].map(({ entry }) => entry.n)).toEqual([3]);
  expect(following.reading.turn).toBe("m1");
});

test("an entry that the caller could not process counts as not read", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-following-"));
  const file = new TranscriptFile(directory.path);
  appendFileSync(file.path, user + word(2));
  const following = new Following({ file, run: { session: "aaaaaaaaaa" as SessionId, run: 1 }, known: 0 });
  expect(() => {
    for (const { entry } of following.next()) if (entry.n === 2) throw new Error("database or disk is full");
  }).toThrow();
  expect([...following.next()].map(({ entry }) => entry.n)).toEqual([2]);
});
