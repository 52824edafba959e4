import { existsSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directory } from "./agents/test-client.ts";
import { inside } from "./inside.ts";

test("a path is inside of the workspace by where it really is, also of what is not there yet", () => {
  using outer = directory();
  const root = join(realpathSync(outer.path), "root");
  mkdirSync(join(root, "a"), { recursive: true });
  symlinkSync("a", join(root, "in"));
  symlinkSync("..", join(root, "up"));
  // Whoever wrote to it would make a file outside.
  symlinkSync(join(outer.path, "not-there"), join(root, "dangling"));
  expect(inside(root, "in/new.txt")).toBe(join(root, "a/new.txt"));
  expect(inside(root, join(root, "a"))).toBe(join(root, "a"));
  for (const path of ["..", "up/new.txt", "dangling", "dangling/x", "/etc/passwd"]) expect(() => inside(root, path), path).toThrow();
  expect(existsSync(join(outer.path, "not-there"))).toBe(false);
});

test("no way around what is not there leads out", () => {
  using outer = directory();
  const root = join(realpathSync(outer.path), "root");
  mkdirSync(join(root, "a"), { recursive: true });
  symlinkSync("..", join(root, "up"));
  for (const path of ["gone/../up/secret", `${root}/gone/../up/secret`, `${root}/gone/again/../../up`]) {
    expect(() => inside(root, path), path).toThrow("outside");
  }
  expect(inside(root, `${root}/gone/../a/b`)).toBe(join(root, "a/b"));
  expect(inside("/", "/etc/../etc/new")).toBe("/etc/new");
});
