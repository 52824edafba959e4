import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { merge } from "../merge/merge.ts";
import { type Kept, lossesOf } from "./losses.ts";

let repository: ScratchRepository;
let tree: string;

beforeEach(() => {
  repository = new ScratchRepository();
  onTestFinished(() => repository[Symbol.dispose]());
  tree = repository.worktree("fix");
});

function losses(more: Partial<Kept> = {}) {
  const workspace = {
    repo: repository.path,
    path: tree,
    branch: "holdfast/fix",
    ownBranch: true,
    base: "main",
    baseCommit: null,
    mergedTip: null,
    mergedCommit: null,
  };
  return lossesOf({ ...workspace, ...more }, { env: repository.env });
}

const subject = (line: string) => line.replace(/^((?:\S+: )?)[0-9a-f]+ /, "$1");

test("an unused workspace loses nothing", async () => {
  expect(await losses()).toEqual({ files: [], commits: [] });
});

test("losses are uncommitted files, including new ones, and commits that nothing else reaches, newest first", async () => {
  repository.commit({ "b.txt": "b\n" }, "second", tree);
  repository.commit({ "c.txt": "c\n" }, "third", tree);
  repository.write({ "a.txt": "changed\n", "dir/new.txt": "n\n" }, tree);
  const { files, commits } = await losses();
  expect(files).toEqual([" M a.txt", "?? dir/new.txt"]);
  expect(commits.map(subject)).toEqual(["third", "second"]);
});

test("merged commits are not losses, whatever the way of merging", async () => {
  repository.commit({ "b.txt": "b\n" }, "second", tree);
  repository.commit({ "b.txt": "c\n" }, "third", tree);
  const order = { name: "fix", tree, branch: "holdfast/fix", into: "main", env: repository.env };
  const { commit: mergedCommit } = await merge({ ...order, way: "squash" });
  expect((await losses()).commits).toEqual([]);
  // Even if the base changed the same lines later: the merged tip is recorded.
  const mergedTip = repository.gitIn(tree, "rev-parse", "HEAD");
  repository.commit({ "b.txt": "something else\n" }, "later");
  expect((await losses()).commits.map(subject)).toEqual(["third", "second"]);
  expect((await losses({ mergedTip, mergedCommit })).commits).toEqual([]);
  // Unless the merge was undone.
  repository.git("reset", "--quiet", "--hard", "HEAD~2");
  expect((await losses({ mergedTip, mergedCommit })).commits.map(subject)).toEqual(["third", "second"]);
});

test("commits after a squash are losses", async () => {
  repository.commit({ "b.txt": "a\n" }, "first of two", tree);
  const mergedTip = repository.commit({ "b.txt": "b\n" }, "second", tree);
  const order = { name: "fix", tree, branch: "holdfast/fix", into: "main", env: repository.env };
  const { commit: mergedCommit } = await merge({ ...order, way: "squash" });
  repository.commit({ "b.txt": "more\n" }, "third", tree);
  expect((await losses({ mergedTip, mergedCommit })).commits.map(subject)).toEqual(["third"]);
});

test("commits that undo each other are losses", async () => {
  repository.commit({ "a.txt": "changed\n" }, "there", tree);
  repository.commit({ "a.txt": "one\n" }, "and back", tree);
  expect((await losses()).commits.map(subject)).toEqual(["and back", "there"]);
});

test("commits that were pushed, or squashed on the remote, are not losses", async () => {
  const remote = join(repository.root, "remote.git");
  repository.git("init", "--quiet", "--bare", remote);
  repository.git("remote", "add", "origin", remote);
  repository.git("push", "--quiet", "-u", "origin", "main");
  repository.commit({ "b.txt": "b\n" }, "second", tree);
  expect((await losses()).commits).toHaveLength(1);
  const pushed = repository.gitIn(tree, "rev-parse", "HEAD");
  repository.gitIn(tree, "push", "--quiet", "origin", "HEAD:refs/heads/fix");
  expect((await losses()).commits).toEqual([]);
  repository.git("update-ref", "-d", "refs/remotes/origin/fix");
  const squashed = repository.git("commit-tree", "-p", "main", "-m", "squashed there", `${pushed}^{tree}`);
  repository.git("push", "--quiet", "origin", `${squashed}:refs/heads/main`);
  expect((await losses()).commits).toEqual([]);
});

test("commits on a branch that stays are not losses: a person's own branch, or another that has them", async () => {
  repository.commit({ "b.txt": "b\n" }, "second", tree);
  expect((await losses({ ownBranch: false })).commits).toEqual([]);
  repository.git("branch", "other", "holdfast/fix");
  expect((await losses()).commits).toEqual([]);
});

test("commits of a detached head and of its branch, and a rebase in progress, are losses", async () => {
  repository.commit({ "a.txt": "b\n" }, "on the branch", tree);
  repository.gitIn(tree, "switch", "--quiet", "--detach", "main");
  repository.commit({ "c.txt": "c\n" }, "detached", tree);
  expect((await losses()).commits.map(subject)).toEqual(["detached", "on the branch"]);
  repository.gitIn(tree, "switch", "--quiet", "holdfast/fix");
  repository.commit({ "a.txt": "ours\n" }, "ours");
  expect(() => repository.gitIn(tree, "rebase", "main")).toThrow();
  expect((await losses()).files).toContain("(a rebase in progress)");
});

test("the branch's commits are losses if the directory is gone", async () => {
  repository.commit({ "b.txt": "b\n" }, "second", tree);
  rmSync(tree, { recursive: true });
  const { files, commits } = await losses();
  expect([files, commits.map(subject)]).toEqual([[], ["second"]]);
});

test("work in submodules and nested repositories is a loss", async () => {
  const library = join(repository.root, "library");
  repository.gitIn(repository.root, "init", "--quiet", "--initial-branch", "main", library);
  repository.commit({ "l.txt": "l\n" }, "library", library);
  const local = ["-c", "protocol.file.allow=always"];
  repository.git(...local, "submodule", "--quiet", "add", library, "lib");
  repository.git("commit", "--quiet", "-m", "with a library");
  const other = repository.worktree("other");
  repository.gitIn(other, ...local, "submodule", "--quiet", "update", "--init");
  const of = { path: other, branch: "holdfast/other" };
  expect(await losses(of)).toEqual({ files: [], commits: [] });
  repository.commit({ "m.txt": "m\n" }, "in the library", join(other, "lib"));
  repository.write({ "l.txt": "changed\n" }, join(other, "lib"));
  const inner = join(other, "inner");
  repository.gitIn(other, "init", "--quiet", inner);
  repository.commit({ "i.txt": "i\n" }, "inner", inner);
  const { files, commits } = await losses(of);
  expect(files).toEqual([" M lib", "?? inner/", " M lib/l.txt"]);
  expect(commits.map(subject)).toEqual(["lib: in the library", "inner: inner"]);
});

test.runIf(process.platform === "linux")("a submodule whose name is not UTF-8 counts as changed", async () => {
  const script = `n=$(printf 'lib\\377') && mkdir "$n" && git -C "$n" init -q && git -C "$n" commit -q --allow-empty -m inner && git add "$n"
    git commit -q -m link && echo work > "$n/unsaved"`;
  execFileSync("sh", ["-ec", script], { cwd: tree, env: repository.env, stdio: "pipe" });
  expect((await losses()).files).toEqual([" M lib\ufffd"]);
});
