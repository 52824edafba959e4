import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claude } from "../profiles/claude.ts";
import { withEvidence } from "./evidence.ts";
import { fuse } from "./fuse.ts";
import { readStateFile, type StateFile } from "./state-file.ts";

test("a file written before the clock was set back gives no evidence from the future", () => {
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

test("a shell of Claude that has ended is no longer background work (truth 4)", () => {
  using place = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  mkdirSync(join(place.path, ".claude/sessions"), { recursive: true });
  const run = { pid: 7, env: { HOME: place.path }, startedAt: new Date(Date.now() - 60_000).toISOString() };
  const at = (status: string, ms: number) => {
    writeFileSync(join(place.path, ".claude/sessions/7.json"), JSON.stringify({ status, statusUpdatedAt: Date.now() - ms }));
    return [readStateFile(claude.stateFile as StateFile, run)].filter((one) => one !== undefined);
  };
  const running = at("shell", 2000);
  expect(fuse(running).background?.value).toBe(true);
  const [ended] = at("idle", 1000);
  expect(ended && fuse(withEvidence(running, ended)).background?.value).toBe(false);
});
