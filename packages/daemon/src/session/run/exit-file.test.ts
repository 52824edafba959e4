import { mkdtempDisposableSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readExitFile, writeExitFile } from "./exit-file.ts";

function read(text?: string) {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const file = join(directory.path, "exit.json");
  if (text !== undefined) {
    writeFileSync(file, text);
    utimesSync(file, 1000, 1000);
  }
  return readExitFile(directory.path);
}

test("a run without the file has not ended", () => {
  expect(read()).toBeUndefined();
  expect(readExitFile("/nowhere/at/all")).toBeUndefined();
});

test("the file contains the exit, and its modification time is the time of the end", () => {
  expect(read('{"status":"3","signal":""}\n')).toEqual({ exit: { code: 3, signal: null }, endedAt: 1_000_000 });
  expect(read('{"status":"","signal":"15"}\n')).toEqual({ exit: { code: null, signal: "SIGTERM" }, endedAt: 1_000_000 });
});

test("a file that was written late contains the time of the end", () => {
  expect(read('{"status":"3","signal":"","at":5000}\n')).toEqual({ exit: { code: 3, signal: null }, endedAt: 5000 });
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  for (const exit of [
    { code: 3, signal: null },
    { code: null, signal: "SIGTERM" },
    { code: null, signal: null },
  ]) {
    writeExitFile(directory.path, { exit, endedAt: 5000 });
    expect(readExitFile(directory.path)).toEqual({ exit, endedAt: 5000 });
  }
});

test.each(["", "{", "null", "[]", '"x"', "{}", '{"status":3,"signal":""}', '{"status":"3"}', '{"status":"three","signal":""}', "\0\0\0"])(
  "a damaged file %j is an end with an unknown exit",
  (text) => {
    expect(read(text)).toEqual({ exit: { code: null, signal: null }, endedAt: 1_000_000 });
  },
);
