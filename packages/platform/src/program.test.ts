import { chmodSync, mkdirSync, mkdtempDisposableSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findProgram } from "./program.ts";

/** Creates `first/` and `second/` in a directory, with these files; names that end in `!` are not executable. */
function having(...files: string[]): string {
  const directory = mkdtempDisposableSync(join(realpathSync(tmpdir()), "hf-"));
  onTestFinished(() => directory.remove());
  for (const name of ["first", "second"]) mkdirSync(join(directory.path, name));
  for (const file of files) {
    const path = join(directory.path, file.replace("!", ""));
    writeFileSync(path, "#!/bin/sh\n");
    chmodSync(path, file.endsWith("!") ? 0o644 : 0o755);
  }
  return directory.path;
}

test("the first match on PATH wins", () => {
  const root = having("first/both", "second/both", "second/one");
  const path = `${root}/first:${root}/second`;
  expect(findProgram("both", path, "/")).toBe(`${root}/first/both`);
  expect(findProgram("one", path, "/")).toBe(`${root}/second/one`);
  expect(findProgram("none", path, "/")).toBeUndefined();
});

test("non-executables, directories and dangling links are skipped", () => {
  const root = having("first/a!", "second/a", "second/b", "second/c");
  mkdirSync(join(root, "first", "b"));
  symlinkSync("/nowhere/at/all", join(root, "first", "c"));
  for (const name of ["a", "b", "c"]) expect(findProgram(name, `${root}/first:${root}/second`, "/")).toBe(`${root}/second/${name}`);
});

test("an empty entry of PATH, and an empty PATH, mean the working directory", () => {
  const root = having("first/here");
  const cwd = join(root, "first");
  for (const path of ["", ":", "/nowhere:", ":/nowhere", "/nowhere::/nowhere"])
    expect(findProgram("here", path, cwd), path).toBe(`${cwd}/here`);
  expect(findProgram("here", "/nowhere", cwd)).toBeUndefined();
});

test("relative PATH entries are below the working directory", () => {
  const root = having("first/a");
  expect(findProgram("a", "first", root)).toBe(`${root}/first/a`);
  expect(findProgram("a", "./first/../first", root)).toBe(`${root}/first/a`);
});

test("a name with a slash is a path, and PATH does not matter", () => {
  const root = having("first/a", "first/b!");
  expect(findProgram("first/a", "/nowhere", root)).toBe(`${root}/first/a`);
  expect(findProgram("./a", "", join(root, "first"))).toBe(`${root}/first/a`);
  expect(findProgram(`${root}/first/a`, "", "/")).toBe(`${root}/first/a`);
  expect(findProgram("first/b", "", root)).toBeUndefined();
  expect(findProgram(root, "", "/")).toBeUndefined();
  expect(findProgram("first/", "", root)).toBeUndefined();
});

test("without a PATH the standard one is used; an empty name is no program", () => {
  expect(findProgram("sh", undefined, "/")).toMatch(/\/sh$/);
  expect(findProgram("", undefined, "/bin")).toBeUndefined();
  expect(findProgram("a\0b", undefined, "/bin")).toBeUndefined();
});
