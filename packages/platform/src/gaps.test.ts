import { appendFileSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { appendGap, GAPS_FILE, readGaps } from "./gaps.ts";

test("holes are read as they were written; a torn line hides none, and one place is one hole", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  expect(readGaps(directory.path)).toEqual([]);
  appendGap(directory.path, { offset: 6, bytes: 100, why: "the disk was full" });
  appendFileSync(join(directory.path, GAPS_FILE), '\n{"offset":12,"bytes":30,"why":"the');
  appendGap(directory.path, { offset: 20, bytes: null, why: "the recorder had ended" });
  appendGap(directory.path, { offset: 20, bytes: null, why: "the recorder had ended" });
  appendFileSync(join(directory.path, GAPS_FILE), '\n{"offset":50,"by');
  expect(readGaps(directory.path)).toEqual([
    { offset: 6, bytes: 100, why: "the disk was full" },
    { offset: 20, bytes: null, why: "the recorder had ended" },
  ]);
});
