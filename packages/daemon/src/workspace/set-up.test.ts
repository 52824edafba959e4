import { mkdtempDisposableSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setupLog, setupTail } from "./set-up.ts";

test("the last lines are told of a log of any size, also of one that no string holds", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-set-up-"));
  expect(setupTail(directory.path, 2)).toBe("");
  const log = setupLog(directory.path);
  writeFileSync(log, "one\ntwo\nthree\n");
  expect(setupTail(directory.path, 2)).toBe("two\nthree");
  // With holes: it takes no room on the disk.
  truncateSync(log, 3 * 2 ** 30);
  writeFileSync(log, "\nit failed\nfor this\n", { flag: "a" });
  expect(setupTail(directory.path, 2)).toBe("it failed\nfor this");
});
