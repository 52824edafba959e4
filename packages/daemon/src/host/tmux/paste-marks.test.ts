import { appendFileSync, mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PasteMarks } from "./paste-marks.ts";

const [ON, OFF] = ["\x1b[?2004h", "\x1b[?2004l"];

/** Writes each text as a segment, deletes the oldest `cut` of them as the limit would, and asks. */
function asks(segments: readonly string[], ...cuts: number[]): boolean {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const marks = new PasteMarks();
  const paths = segments.map((text, index) => {
    const path = join(directory.path, `output.00000${index}`);
    writeFileSync(path, text);
    return path;
  });
  for (const cut of cuts) {
    const old = paths.splice(0, cut);
    marks.remember(directory.path, old);
    for (const path of old) rmSync(path);
  }
  return marks.asked(directory.path);
}

test("the last mode switch counts, in remaining or deleted segments", () => {
  expect(asks(["x", "y"])).toBe(false);
  expect(asks([`x${ON}`, "y"])).toBe(true);
  expect(asks([`x${ON}`, "y"], 1)).toBe(true);
  expect(asks([`x${ON}`, "y", "z"], 1, 1)).toBe(true);
  expect(asks([`${ON}${OFF}`, "y"], 1)).toBe(false);
  expect(asks([ON, OFF, "z"], 1, 1)).toBe(false);
  expect(asks([ON, OFF, "z"], 1)).toBe(false);
  expect(asks([OFF, ON, "z"], 2)).toBe(true);
});

test("only new output is read, and a switch across reads, segments and deletions is found", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const marks = new PasteMarks();
  const segment = (number: number) => join(directory.path, `output.00000${number}`);
  const asked = () => marks.asked(directory.path);
  writeFileSync(segment(0), "x".repeat(1000));
  expect(asked()).toBe(false);
  // Nothing does this in practice; a second read would find the switch.
  writeFileSync(segment(0), ON + "x".repeat(1000 - ON.length));
  expect(asked()).toBe(false);
  appendFileSync(segment(0), ON.slice(0, 3));
  expect(asked()).toBe(false);
  writeFileSync(segment(1), ON.slice(3));
  expect(asked()).toBe(true);
  appendFileSync(segment(1), "y".repeat(1000));
  expect(asked()).toBe(true);
  writeFileSync(segment(2), OFF);
  writeFileSync(segment(3), "z".repeat(1000));
  // Deletes everything that was read, and a switch that was not.
  marks.remember(directory.path, [segment(0), segment(1), segment(2)]);
  for (const number of [0, 1, 2]) rmSync(segment(number));
  expect(asked()).toBe(false);
  appendFileSync(segment(3), ON);
  expect(asked()).toBe(true);
});
