import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { initSubmodules } from "./submodules.ts";

/** A repository with the submodule `outer`, which has a submodule itself; all checked out in the main tree. */
function nested(scratch: ScratchRepository): { remotes: string } {
  const remotes = join(scratch.root, "remotes");
  const add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
  for (const [name, inner] of [["inner"], ["outer", "inner"]] as const) {
    const path = join(remotes, name);
    mkdirSync(path, { recursive: true });
    scratch.gitIn(path, "init", "--quiet", "--initial-branch", "main");
    if (inner) scratch.gitIn(path, ...add, join(remotes, inner), inner);
    scratch.commit({ "file.txt": `${name}\n` }, name, path);
  }
  scratch.git(...add, join(remotes, "outer"), "outer");
  scratch.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive");
  scratch.commit({}, "with submodules");
  return { remotes };
}

test("nested submodules also come from the repository's own copies, without their remotes", async () => {
  using scratch = new ScratchRepository();
  const { remotes } = nested(scratch);
  rmSync(remotes, { recursive: true });
  const tree = scratch.worktree("one");
  expect(await initSubmodules(tree, { common: join(scratch.path, ".git"), env: scratch.env })).toEqual([]);
  expect(readFileSync(join(tree, "outer/inner/file.txt"), "utf8")).toBe("inner\n");
  expect(scratch.gitIn(join(tree, "outer"), "remote", "get-url", "origin")).toBe(join(remotes, "outer"));
});

test("cloning from local copies does not let a submodule name a local path", async () => {
  using scratch = new ScratchRepository();
  const { remotes } = nested(scratch);
  // Never checked out here: the only source is the path in the submodule's `.gitmodules`.
  rmSync(join(scratch.path, ".git/modules/outer/modules"), { recursive: true });
  const tree = scratch.worktree("one");
  expect(await initSubmodules(tree, { common: join(scratch.path, ".git"), env: scratch.env })).toEqual([
    expect.stringContaining("outer/inner (") as unknown as string,
  ]);
  expect([existsSync(join(tree, "outer/file.txt")), existsSync(join(tree, "outer/inner/file.txt"))]).toEqual([true, false]);
  expect(existsSync(join(remotes, "inner"))).toBe(true);
});

test("no filter configured in the place of a submodule's new clone is run (mend 3)", async () => {
  using scratch = new ScratchRepository();
  const { remotes } = nested(scratch);
  scratch.commit({ ".gitattributes": "* filter=planted\n" }, "attributes", join(remotes, "outer"));
  const outer = join(scratch.path, "outer");
  scratch.gitIn(outer, "pull", "--quiet", "origin", "main");
  scratch.commit({}, "with attributes");
  const tree = scratch.worktree("one");
  const gitDir = scratch.gitIn(tree, "rev-parse", "--absolute-git-dir");
  // Anybody who can write to the repository can do this while a worktree is created.
  const planted = join(gitDir, "modules/outer");
  mkdirSync(join(gitDir, "modules"));
  scratch.git("clone", "--quiet", "--no-checkout", "--separate-git-dir", planted, outer, join(scratch.root, "planted"));
  const mark = join(scratch.root, "mark");
  for (const way of ["smudge", "clean"])
    scratch.git("config", "--file", join(planted, "config"), `filter.planted.${way}`, `touch ${mark}; cat`);
  await initSubmodules(tree, { common: join(scratch.path, ".git"), env: scratch.env });
  expect(existsSync(mark)).toBe(false);
});
