import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readStateFile, type StateFile } from "./state-file.ts";

test("a file that was written before the clock was set back says nothing of the time to come", () => {
  using place = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const path = join(place.path, "7.json");
  const file: StateFile = { path: () => path, since: "at", says: "status", rules: [{ when: { status: /^busy$/ }, turn: "working" }] };
  const run = { pid: 7, env: {}, startedAt: new Date(Date.now() - 60_000).toISOString() };
  writeFileSync(path, JSON.stringify({ status: "busy", at: Date.now() + 3_600_000 }));
  const seen = readStateFile(file, run);
  expect(seen?.claim).toEqual({ turn: "working" });
  expect(Date.parse(seen?.at ?? "")).toBeLessThanOrEqual(Date.now());
  writeFileSync(path, JSON.stringify({ status: "busy", at: Date.now() - 3_600_000 }));
  expect(readStateFile(file, run)).toBeUndefined();
});
