import { mkdirSync, mkdtempDisposableSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSignals } from "./signal-files.ts";

test("what is told is read oldest first, and nothing was told in the time to come", () => {
  using run = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const now = Date.now();
  const write = (name: string, seconds: number) => {
    const path = join(run.path, "signals", name);
    writeFileSync(path, JSON.stringify({ name }));
    utimesSync(path, seconds, seconds);
  };
  mkdirSync(join(run.path, "signals"));
  write("9", now / 1000 + 3600);
  write("8", now / 1000 - 60);
  write("7.ask", now / 1000 - 30);
  write(".half", now / 1000 - 90);
  const signals = [...readSignals(run.path)];
  expect(signals).toMatchObject([{ payload: { name: "8" } }, { payload: { name: "7.ask" }, ask: "7.ask" }, { payload: { name: "9" } }]);
  expect(signals.every(({ at }) => Date.parse(at) <= Date.now())).toBe(true);
});
