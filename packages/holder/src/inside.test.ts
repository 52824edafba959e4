import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directory } from "../test/test-client.ts";
import { inside, insideToWrite } from "./inside.ts";

test("a path is checked by its real location, including the path of a missing file", () => {
  using outer = directory();
  const root = join(realpathSync(outer.path), "root");
  mkdirSync(join(root, "a"), { recursive: true });
  symlinkSync("a", join(root, "in"));
  symlinkSync("..", join(root, "up"));
  // Writing to this link would create a file outside.
  symlinkSync(join(outer.path, "not-there"), join(root, "dangling"));
  expect(inside(root, "in/new.txt")).toBe(join(root, "a/new.txt"));
  expect(inside(root, join(root, "a"))).toBe(join(root, "a"));
  for (const path of ["..", "up/new.txt", "dangling", "dangling/x", "/etc/passwd"]) expect(() => inside(root, path), path).toThrow();
  expect(existsSync(join(outer.path, "not-there"))).toBe(false);
});

test("a path through a missing directory cannot leave the workspace", () => {
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

test("no file of git is written, by any name or link (mend 3)", () => {
  using outer = directory();
  const root = join(realpathSync(outer.path), "root");
  for (const path of [".git/hooks", "sub/.git", "bare/objects", "bare/refs", "src"]) mkdirSync(join(root, path), { recursive: true });
  writeFileSync(join(root, "bare/HEAD"), "ref: refs/heads/main\n");
  symlinkSync(".git", join(root, "innocent"));
  symlinkSync("src", join(root, "linked"));
  const refused = [
    ...[".git", ".git/config", ".git/hooks/pre-commit", "./src/../.git/config", `${root}/.git/config`, "sub/.git", "sub/.git/config"],
    ...[
      ".GIT/config",
      ".Git",
      "git~1/config",
      ".git /config",
      ".git./config",
      ".git::$INDEX_ALLOCATION/config",
      ".g\u200cit/config",
      "new/.git",
    ],
    ...["innocent/config", "innocent/hooks/new", "bare/config", "bare/hooks/post-update", "bare/objects/info/alternates"],
  ];
  for (const path of refused) expect(() => insideToWrite(root, path), path).toThrow("belongs to git");
  for (const path of [".gitignore", ".gitattributes", ".gitmodules", "src/git.ts", "linked/.github/x.yml", "HEAD"])
    insideToWrite(root, path);
});
