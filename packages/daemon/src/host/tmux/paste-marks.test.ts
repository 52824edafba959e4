import { mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asksForPasteMarks, rememberPasteMarks } from "./paste-marks.ts";

const [ON, OFF] = ["\x1b[?2004h", "\x1b[?2004l"];

/** Says each text as a segment, deletes the oldest `cut` of them as the limit would, and asks. */
function asks(segments: readonly string[], ...cuts: number[]): boolean {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const paths = segments.map((text, index) => {
    const path = join(directory.path, `output.00000${index}`);
    writeFileSync(path, text);
    return path;
  });
  for (const cut of cuts) {
    const old = paths.splice(0, cut);
    rememberPasteMarks(directory.path, old);
    for (const path of old) rmSync(path);
  }
  return asksForPasteMarks(directory.path);
}

test("the last word counts, in what is left or in what was deleted before it", () => {
  expect(asks(["x", "y"])).toBe(false);
  expect(asks([`x${ON}`, "y"])).toBe(true);
  expect(asks([`x${ON}`, "y"], 1)).toBe(true);
  expect(asks([`x${ON}`, "y", "z"], 1, 1)).toBe(true);
  expect(asks([`${ON}${OFF}`, "y"], 1)).toBe(false);
  expect(asks([ON, OFF, "z"], 1, 1)).toBe(false);
  expect(asks([ON, OFF, "z"], 1)).toBe(false);
  expect(asks([OFF, ON, "z"], 2)).toBe(true);
});
