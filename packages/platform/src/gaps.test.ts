import { appendFileSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { appendGap, GAPS_FILE, readGaps } from "./gaps.ts";

test("gaps survive writing and reading, a torn line hides none, and a gap may grow", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  expect(readGaps(directory.path)).toEqual([]);
  appendGap(directory.path, { offset: 6, bytes: 100, why: "the disk was full", at: 1000 });
  appendGap(directory.path, { offset: 6, bytes: 11, why: "the disk was full", at: 2000 });
  appendFileSync(join(directory.path, GAPS_FILE), '\n{"offset":12,"bytes":30,"why":"the');
  // Entries of older versions have no time.
  for (let i = 0; i < 2; i++)
    appendFileSync(join(directory.path, GAPS_FILE), '\n{"offset":20,"bytes":null,"why":"the recorder had ended"}\n');
  appendFileSync(join(directory.path, GAPS_FILE), '\n{"offset":50,"by');
  expect(readGaps(directory.path)).toEqual([
    { offset: 6, bytes: 111, why: "the disk was full", at: 1000 },
    { offset: 20, bytes: null, why: "the recorder had ended", at: null },
  ]);
});
