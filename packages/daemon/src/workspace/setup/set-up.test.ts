import { mkdtempDisposableSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setupLog, setupTail } from "./set-up.ts";

test("the last lines are returned for a log of any size, even one too large for a string", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-set-up-"));
  expect(setupTail(directory.path, 2)).toBe("");
  const log = setupLog(directory.path);
  writeFileSync(log, "one\ntwo\nthree\n");
  expect(setupTail(directory.path, 2)).toBe("two\nthree");
  // A sparse file uses no disk space.
  truncateSync(log, 3 * 2 ** 30);
  writeFileSync(log, "\nit failed\nfor this\n", { flag: "a" });
  expect(setupTail(directory.path, 2)).toBe("it failed\nfor this");
});
