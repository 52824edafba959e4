import { join } from "node:path";
import { expect, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { findRepository, listTrees } from "./repository.ts";
import { addWorktree, planBeginning, undoAdd } from "./worktree.ts";

test("worktrees of one repository can be created and listed concurrently, though git fails on a half-made one", async () => {
  using scratch = new ScratchRepository();
  const { env } = scratch;
  const repository = await findRepository(scratch.path, env);
  if (!repository) throw new Error("there is a repository");
  const make = async (name: string) => {
    const beginning = await planBeginning(repository, { name, env });
    await addWorktree(repository, { path: join(scratch.root, "trees", name), name, beginning, env });
    return (await listTrees(scratch.path, env)).some(({ branch }) => branch === beginning.branch);
  };
  for (let round = 0; round < 3; round++) {
    const made = await Promise.all(["a", "b", "c", "d", "e", "f"].map((name) => make(`${name}${round}`)));
    expect(made).toEqual(made.map(() => true));
  }
});

test("a failed creation removes its own branch, but never one with commits made under that name meanwhile", async () => {
  using scratch = new ScratchRepository();
  const { env } = scratch;
  const repository = await findRepository(scratch.path, env);
  if (!repository) throw new Error("there is a repository");
  const path = join(scratch.root, "trees", "late");
  const beginning = await planBeginning(repository, { name: "late", env });
  await addWorktree(repository, { path, name: "late", beginning, env });
  await undoAdd(scratch.path, { path, beginning, env });
  expect(scratch.git("branch", "--list")).toBe("* main");

  scratch.git("switch", "--quiet", "-c", beginning.branch);
  const tip = scratch.commit({ "theirs.txt": "work\n" }, "theirs");
  scratch.git("switch", "--quiet", "main");
  await expect(addWorktree(repository, { path, name: "late", beginning, env })).rejects.toThrow("already exists");
  await undoAdd(scratch.path, { path, beginning, env });
  expect(scratch.git("rev-parse", beginning.branch)).toBe(tip);
});
