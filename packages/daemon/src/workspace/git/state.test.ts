import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkspaceId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { stateOf } from "./state.ts";

test("if only some files can have changed, only those are checked, with the same result", async () => {
  using repository = new ScratchRepository({ "a.txt": "a\n", ".gitignore": ".env\n" });
  const path = repository.worktree("one");
  const git = { repo: repository.path, branch: "holdfast/one", ownBranch: true, base: "main", baseCommit: null };
  const spec = { id: "aaaaaaaaaa" as WorkspaceId, name: "one", kind: "worktree" as const, path, ...git, portBase: 0, ports: 0, notes: [] };
  for (const name of [".env", "odd [*] name", "a.txt"]) writeFileSync(join(path, name), "new\n");
  expect(await stateOf(spec, [".env", "odd [*] name"])).toEqual({ dirty: true, changes: 1, ahead: 0, behind: 0 });
  expect(await stateOf(spec, [".env"])).toMatchObject({ dirty: false, changes: 0 });
  expect(await stateOf(spec, [])).toMatchObject({ dirty: false, changes: 0 });
  expect(await stateOf(spec)).toMatchObject({ dirty: true, changes: 2 });
});
