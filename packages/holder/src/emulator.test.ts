import { appendFileSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Emulator } from "./emulator.ts";

test("unrecorded output is on the screen in its place, even if the screen is behind", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const replies: string[] = [];
  const emulator = new Emulator({ directory: directory.path, columns: 40, rows: 10, onReply: (data) => replies.push(data) });
  const say = (text: string, recorded: number) => {
    const bytes = Buffer.from(text);
    appendFileSync(join(directory.path, "output.000000"), bytes.subarray(0, recorded));
    emulator.output(bytes, recorded);
  };
  // The emulator still processes the first text when the others arrive.
  say("one\r\n", 5);
  say("two\r\n", 5);
  say("three\r\n", 3);
  // Where is the cursor?
  say("four\x1b[6n\r\n", 0);
  say("five\r\n", 6);
  expect(await emulator.settle(5000)).toBe(true);
  expect(emulator.screen().lines.slice(0, 6)).toEqual(["one", "two", "three", "four", "five", ""]);
  expect(replies).toEqual(["\x1b[4;5R"]);
  say("six", 0);
  expect(await emulator.settle(5000)).toBe(true);
  expect(emulator.screen().lines[5]).toBe("six");
});

test("the screen keeps the end of a flood that cannot be recorded", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const emulator = new Emulator({ directory: directory.path, columns: 40, rows: 10, onReply: () => {} });
  for (let i = 0; i < 200; i++) emulator.output(Buffer.from(`${"x".repeat(30)}\r\n`.repeat(1000)), 0);
  emulator.output(Buffer.from("the end"), 0);
  expect(await emulator.settle(10_000)).toBe(true);
  expect(emulator.screen().lines).toContain("the end");
});

test("an unreadable backlog does not freeze the screen, which continues with new output", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const emulator = new Emulator({ directory: directory.path, columns: 40, rows: 10, onReply: () => {} });
  const say = (text: string) => emulator.output(Buffer.from(text), text.length);
  say("one\r\n");
  // While the emulator is busy, these are read from a file that does not exist.
  say("two\r\n");
  say("three\r\n");
  expect(await emulator.settle(5000)).toBe(true);
  say("four");
  expect(await emulator.settle(5000)).toBe(true);
  expect(emulator.screen().lines.slice(0, 2)).toEqual(["one", "four"]);
});

test("a backlog that becomes readable after a moment is shown", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const emulator = new Emulator({ directory: directory.path, columns: 40, rows: 10, onReply: () => {} });
  for (const text of ["one\r\n", "two\r\n"]) emulator.output(Buffer.from(text), text.length);
  expect(await emulator.settle(100)).toBe(false);
  // A caller that has stopped waiting is forgotten.
  expect(emulator.waiting).toBe(0);
  appendFileSync(join(directory.path, "output.000000"), "one\r\ntwo\r\n");
  expect(await emulator.settle(5000)).toBe(true);
  expect(emulator.screen().lines.slice(0, 2)).toEqual(["one", "two"]);
});
