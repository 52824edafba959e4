import { join } from "node:path";
import { expect, test } from "vitest";
import { findRepository, listTrees } from "./repository.ts";
import { ScratchRepository } from "./scratch-repository.ts";
import { addWorktree, planBeginning } from "./worktree.ts";

test("worktrees of one repository are made at once, and listed meanwhile: git fails on one that is half made", async () => {
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
