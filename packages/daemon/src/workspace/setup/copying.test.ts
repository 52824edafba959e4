import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { copyUntracked } from "./copying.ts";

test("a rule copies the untracked files of a partly tracked directory, by name and by path", async () => {
  using scratch = new ScratchRepository();
  scratch.commit({ "certs/README": "r\n", "conf/local/tracked": "t\n" }, "some");
  const tree = scratch.worktree("one");
  scratch.write({ "certs/key.pem": "k\n", "conf/local/secret": "s\n", "conf/local/deep/er": "d\n", "conf/other": "o\n" });
  scratch.write({ "certs/README": "mine\n" });
  expect((await copyUntracked(scratch.path, tree, ["certs/", "conf/local/**"])).sort()).toEqual([
    "certs/key.pem",
    "conf/local/deep",
    "conf/local/secret",
  ]);
  expect([scratch.read("certs/README", tree), scratch.read("conf/local/deep/er", tree)]).toEqual(["r\n", "d\n"]);
  expect(await copyUntracked(scratch.path, tree, ["./**", ".git/*", "**/.git"])).toEqual(["conf/other"]);
});

test("nothing is copied through a link that git put in place of a directory", async () => {
  using scratch = new ScratchRepository();
  const outside = join(scratch.root, "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(scratch.path, "conf"));
  scratch.commit({}, "a link");
  const tree = scratch.worktree("one");
  scratch.git("rm", "--quiet", "conf");
  scratch.commit({}, "no link");
  scratch.write({ "conf/local/secret": "s\n", "conf/key": "k\n" });
  expect(await copyUntracked(scratch.path, tree, ["conf/local", "conf/key"])).toEqual([]);
  expect([existsSync(join(outside, "local")), existsSync(join(outside, "key"))]).toEqual([false, false]);
});

test("nothing is read through a link out of the project, by a path, a pattern or a directory (mend 5)", async () => {
  using scratch = new ScratchRepository();
  const outside = join(scratch.root, "outside");
  mkdirSync(join(outside, "keys"), { recursive: true });
  writeFileSync(join(outside, "secret"), "s\n");
  writeFileSync(join(outside, "keys/id"), "k\n");
  symlinkSync(outside, join(scratch.path, "link"));
  scratch.commit({ "sub/a": "a\n" }, "a link out");
  const tree = scratch.worktree("one");
  symlinkSync(outside, join(scratch.path, "sub/out"));
  symlinkSync(outside, join(scratch.path, "loose"));
  scratch.write({ "sub/mine": "m\n" });
  const rules = [
    "loose/secret",
    "loose/keys",
    "loose/k*/id",
    "link/secret",
    "link/keys",
    "link/**",
    "{link,sub}/secret",
    "*/secret",
    "sub/out/keys",
    "sub/out/**",
    "sub/mine",
  ];
  expect(await copyUntracked(scratch.path, tree, rules)).toEqual(["sub/mine"]);
  expect([existsSync(join(tree, "sub/out")), existsSync(join(tree, "loose"))]).toEqual([false, false]);
  // The link itself may be copied, as a link.
  expect(await copyUntracked(scratch.path, tree, ["sub/out"])).toEqual(["sub/out"]);
  expect(readlinkSync(join(tree, "sub/out"))).toBe(outside);
});

test("a rule with alternatives that lead out of the project copies nothing from there, and is no error (mend 5)", async () => {
  using scratch = new ScratchRepository();
  mkdirSync(join(scratch.root, "outside/keys"), { recursive: true });
  writeFileSync(join(scratch.root, "outside/keys/secret"), "s\n");
  const tree = scratch.worktree("one");
  scratch.write({ mine: "m\n" });
  for (const rule of ["{..,x}/outside/keys/secret", "{..,x}/outside/keys", "{..,x}"])
    expect(await copyUntracked(scratch.path, tree, [rule]), rule).toEqual([]);
  expect(await copyUntracked(scratch.path, tree, ["{.,x}/mine"])).toEqual(["mine"]);
});
