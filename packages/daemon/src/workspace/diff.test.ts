import { expect, test } from "vitest";
import { ScratchRepository } from "../../test/scratch-repository.ts";
import { diffOf, statOf } from "./diff.ts";

const workspace = { name: "fix", kind: "worktree", base: "main", removedAt: null, repo: null } as const;

test("concurrent diffs return the same commits, changes and new files", async () => {
  using repository = new ScratchRepository();
  const path = repository.worktree("fix");
  const baseCommit = repository.commit({ "b.txt": "two\n" }, "second", path);
  repository.write({ "a.txt": "one\nmore\n", "new.txt": "three\n" }, path);
  const stats = await Promise.all(Array.from({ length: 12 }, () => statOf({ ...workspace, path, baseCommit })));
  for (const stat of stats) expect(stat).toEqual({ files: 3, insertions: 3, deletions: 0 });
  // An external diff program, meant for a person's screen.
  repository.git("config", "diff.external", "false");
  const { diff: patch } = await diffOf({ ...workspace, path, baseCommit }, { stat: false, names: false, color: false });
  expect(patch).toContain("+++ b/new.txt");
  const diff = await diffOf({ ...workspace, path, baseCommit }, { stat: false, names: true, color: false });
  expect(diff.diff).toBe("M\ta.txt\nA\tb.txt\nA\tnew.txt\n");
  expect(await statOf({ ...workspace, path, baseCommit }, baseCommit)).toEqual({ files: 2, insertions: 2, deletions: 0 });
});
