import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { headOf, workSince } from "./work-since.ts";

const LONG_AGO = "2020-01-01T00:00:00.000Z";
const TO_COME = "2099-01-01T00:00:00.000Z";

const optionsOf = (repository: ScratchRepository) => ({
  env: { PATH: process.env.PATH, HOME: repository.root, GIT_CONFIG_NOSYSTEM: "1" },
});

test("workSince returns the commits since the starting commit and all differences from it, committed or not", async () => {
  using repository = new ScratchRepository();
  const options = optionsOf(repository);
  const commit = await headOf(repository.path, options);
  repository.commit({ "b.txt": "one\ntwo\n" }, "a commit");
  writeFileSync(join(repository.path, "a.txt"), "changed\n");
  writeFileSync(join(repository.path, "new.txt"), "new\n");
  const work = await workSince(repository.path, { from: { commit, at: TO_COME }, files: true }, options);
  expect(work).toMatchObject({ branch: "main", commitCount: 1, commits: [{ author: "Tester", subject: "a commit" }] });
  expect(work?.changed).toEqual({
    files: 3,
    insertions: 3,
    deletions: 1,
    untilTurn: null,
    list: [
      { path: "a.txt", insertions: 1, deletions: 1 },
      { path: "b.txt", insertions: 2, deletions: 0 },
      { path: "new.txt", insertions: null, deletions: null },
    ],
  });
  expect(repository.git("status", "--porcelain")).toBe(" M a.txt\n?? new.txt".trimEnd());
});

test("without a known starting commit, git's reflog is used", async () => {
  using repository = new ScratchRepository();
  const tree = repository.worktree("feature", "feature");
  repository.commit({ "b.txt": "b\n" }, "a commit", tree);
  const options = optionsOf(repository);
  const asked = (at: string) => workSince(tree, { from: { commit: null, at }, files: true }, options);
  // The worktree's first commit was made elsewhere.
  expect(await asked(LONG_AGO)).toMatchObject({ branch: "feature", commitCount: 1, changed: { files: 1 } });
  expect(await asked(TO_COME)).toMatchObject({ commitCount: 0, changed: { files: 0 } });
  const gone = "0123456789".repeat(4);
  expect(await workSince(tree, { from: { commit: gone, at: LONG_AGO }, files: false }, options)).toMatchObject({ commitCount: 1 });
});

test("in a repository created meanwhile all commits are new, including the first", async () => {
  using repository = new ScratchRepository();
  repository.commit({ "b.txt": "b\n" }, "a commit");
  const work = await workSince(repository.path, { from: { commit: null, at: LONG_AGO }, files: true }, optionsOf(repository));
  expect(work).toMatchObject({ commitCount: 2, changed: { files: 2, insertions: 2 } });
});

test("a merge counts as one commit, whatever it contains", async () => {
  using repository = new ScratchRepository();
  const tree = repository.worktree("feature", "feature");
  for (const name of ["x", "y", "z"]) repository.commit({ [name]: "1\n" }, "a commit");
  const options = optionsOf(repository);
  const commit = await headOf(tree, options);
  repository.commit({ own: "1\n" }, "a commit", tree);
  repository.gitIn(tree, "merge", "-q", "--no-edit", "main");
  expect(await workSince(tree, { from: { commit, at: TO_COME }, files: false }, options)).toMatchObject({ commitCount: 2, changed: null });
});

test("there is no result outside a repository, and only the location before the first commit", async () => {
  using repository = new ScratchRepository();
  const options = optionsOf(repository);
  const asked = { from: { commit: null, at: LONG_AGO }, files: true };
  expect(await workSince(repository.root, asked, options)).toBeUndefined();
  expect(await workSince(join(repository.root, "nowhere"), asked, options)).toBeUndefined();
  const empty = join(repository.root, "empty");
  execFileSync("git", ["init", "-q", "-b", "main", empty], { env: options.env });
  expect(await workSince(empty, asked, options)).toMatchObject({ branch: "main", head: null, commitCount: 0, changed: null });
});
