import { existsSync, mkdtempDisposableSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Reserve } from "./reserve.ts";

function full(): never {
  throw Object.assign(new Error("no space left"), { code: "ENOSPC", syscall: "write" });
}

test("the reserve is given up once for work that finds the disk full, and is reserved again later", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const file = join(directory.path, "reserve");
  const reserve = new Reserve(file);
  expect(() => reserve.spend(full)).toThrow("no space left");
  reserve.hold();
  expect(statSync(file).size).toBeGreaterThan(0);
  expect(reserve.spend(() => (existsSync(file) ? full() : "done"))).toBe("done");
  expect(reserve.release()).toBe(false);
  reserve.hold();
  expect(() =>
    reserve.spend(() => {
      throw new Error("something else");
    }),
  ).toThrow("something else");
  expect(reserve.release()).toBe(true);
});
