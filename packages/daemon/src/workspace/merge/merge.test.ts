import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { type MergeOrder, merge } from "./merge.ts";

let repository: ScratchRepository;
let tree: string;

beforeEach(() => {
  repository = new ScratchRepository();
  onTestFinished(() => repository[Symbol.dispose]());
  tree = repository.worktree("fix");
});

function order(more: Partial<MergeOrder> = {}): MergeOrder {
  return { name: "fix", tree, branch: "holdfast/fix", into: "main", env: repository.env, ...more };
}

/** Returns the error of a refused merge, and checks that it changed nothing. */
async function refused(more: Partial<MergeOrder> = {}): Promise<HoldfastError> {
  const before = repository.state(tree);
  const error = await merge(order(more)).catch((thrown: unknown) => thrown);
  if (!(error instanceof HoldfastError)) throw new Error(`it was not refused: ${String(error)}`);
  expect(repository.state(tree)).toBe(before);
  return error;
}

const log = (range = "main") => repository.git("log", "--format=%s", range).split("\n");

describe("fast-forward", () => {
  test("a merge adds commits to an unchanged base, and its tree gets their files", async () => {
    const tip = repository.commit({ "b.txt": "new\n" }, "second", tree);
    const outcome = await merge(order());
    expect(outcome).toMatchObject({ way: "ff", into: "main", commit: tip, tip, commits: 1, tree: repository.path });
    expect(repository.read("b.txt")).toBe("new\n");
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("a base that has moved on is refused with the two alternatives", async () => {
    repository.commit({ "b.txt": "new\n" }, "second", tree);
    repository.commit({ "c.txt": "theirs\n" }, "meanwhile");
    expect(await refused()).toMatchObject({ code: "merge_refused", hint: expect.stringMatching(/--squash.*--rebase/) });
  });

  test("a workspace without its own commits is refused: there is nothing to merge", async () => {
    expect((await refused()).message).toMatch(/nothing to merge/);
  });

  test("a base that is not checked out moves too", async () => {
    repository.git("branch", "release");
    const tip = repository.commit({ "b.txt": "new\n" }, "second", tree);
    expect(await merge(order({ into: "release" }))).toMatchObject({ commit: tip, tree: null });
    expect(repository.git("rev-parse", "release")).toBe(tip);
    expect(existsSync(join(repository.path, "b.txt"))).toBe(false);
  });

  test("a bare repository's branch moves", async () => {
    const bare = join(repository.root, "bare.git");
    repository.git("clone", "--quiet", "--bare", ".", bare);
    const own = join(repository.root, "of-bare");
    repository.gitIn(bare, "worktree", "add", "--quiet", "-b", "holdfast/x", own, "main");
    const tip = repository.commit({ "b.txt": "new\n" }, "second", own);
    await merge(order({ tree: own, branch: "holdfast/x" }));
    expect(repository.gitIn(bare, "rev-parse", "main")).toBe(tip);
  });

  test("the merge uses what an agent checked out, if the workspace's branch has nothing else", async () => {
    repository.gitIn(tree, "switch", "--quiet", "-c", "feature");
    const tip = repository.commit({ "b.txt": "new\n" }, "second", tree);
    expect((await merge(order())).commit).toBe(tip);
  });

  test("a workspace branch with commits that are not checked out is refused", async () => {
    repository.commit({ "b.txt": "new\n" }, "second", tree);
    repository.gitIn(tree, "switch", "--quiet", "-c", "feature", "main");
    repository.commit({ "c.txt": "other\n" }, "third", tree);
    expect((await refused()).hint).toMatch(/switch holdfast\/fix/);
  });
});

describe("squash", () => {
  beforeEach(() => {
    repository.commit({ "b.txt": "new\n" }, "second", tree);
    repository.commit({ "c.txt": "more\n" }, "third\n\nCo-authored-by: Agent <agent@example.com>", tree);
    repository.commit({ "d.txt": "theirs\n" }, "meanwhile");
  });

  test("one commit by the user on top of the base has both sides' files", async () => {
    const before = repository.git("rev-parse", "main");
    const outcome = await merge(order({ way: "squash" }));
    expect(outcome).toMatchObject({ way: "squash", before, commits: 2, tip: repository.gitIn(tree, "rev-parse", "HEAD") });
    expect(repository.git("log", "-1", "--format=%an %ae %P")).toBe(`Tester tester@example.com ${before}`);
    expect(repository.git("log", "-1", "--format=%B")).toBe(
      "fix (2 commits)\n\n* second\n* third\n\nCo-authored-by: Agent <agent@example.com>\n",
    );
    expect([repository.read("b.txt"), repository.read("c.txt"), repository.read("d.txt")]).toEqual(["new\n", "more\n", "theirs\n"]);
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("the message can be set", async () => {
    await merge(order({ way: "squash", message: "Mend the login" }));
    expect(repository.git("log", "-1", "--format=%B")).toBe("Mend the login\n");
  });

  test("commits after a squash can be merged again, even if they change the same lines", async () => {
    const squashed = await merge(order({ way: "squash" }));
    repository.commit({ "b.txt": "newer\n" }, "fourth", tree);
    const again = await merge(order({ way: "squash", squashed }));
    expect(again.commits).toBe(1);
    expect(repository.read("b.txt")).toBe("newer\n");
    expect(log().slice(0, 2)).toEqual(["fourth", "fix (2 commits)"]);
  });

  test("everything is merged again if the first merge was undone, or into another branch", async () => {
    const squashed = await merge(order({ way: "squash" }));
    repository.git("reset", "--quiet", "--hard", squashed.before);
    repository.git("branch", "release");
    repository.commit({ "e.txt": "newer\n" }, "fourth", tree);
    for (const into of ["main", "release"]) {
      expect((await merge(order({ way: "squash", into, squashed }))).commits).toBe(3);
      expect(repository.git("show", `${into}:c.txt`)).toBe("more");
    }
  });

  test("a base that already has everything gets no empty commit", async () => {
    const first = await merge(order({ way: "squash" }));
    const again = await merge(order({ way: "squash" }));
    expect(again.commit).toBe(first.commit);
    expect(repository.git("rev-parse", "main")).toBe(first.commit);
  });
});

describe("rebase", () => {
  test("authors, times and messages stay, and the workspace moves to the new commits", async () => {
    const author = ["-c", "user.name=Ågent Ünder", "-c", "user.email=a@example.com"];
    repository.write({ "b.txt": "new\n" }, tree);
    repository.gitIn(tree, "add", "--all");
    repository.gitIn(tree, ...author, "commit", "--quiet", "--date=2020-02-03T04:05:06+0700", "-m", "second\n\n  indented\n\nfoot: note");
    repository.commit({ "c.txt": "more\n" }, "third", tree);
    repository.commit({ "d.txt": "theirs\n" }, "meanwhile");
    const format = "--format=%an|%ae|%aI|%B";
    const original = repository.gitIn(tree, "log", "-1", format, "HEAD~1");
    const outcome = await merge(order({ way: "rebase" }));
    expect(log()).toEqual(["third", "second", "meanwhile", "first"]);
    expect(repository.git("log", "-1", format, "main~1")).toBe(original);
    expect(repository.git("log", "-1", "--format=%cn", "main~1")).toBe("Tester");
    expect(repository.gitIn(tree, "rev-parse", "HEAD", "holdfast/fix")).toBe(`${outcome.commit}\n${outcome.commit}`);
    expect(repository.gitIn(tree, "status", "--porcelain")).toBe("");
    expect(repository.read("d.txt", tree)).toBe("theirs\n");
  });

  test("a commit that the base already has is skipped; an originally empty one stays", async () => {
    repository.commit({ "b.txt": "same\n" }, "same there", tree);
    repository.commit({}, "empty", tree);
    repository.commit({ "c.txt": "own\n" }, "own", tree);
    repository.commit({ "b.txt": "same\n" }, "same here");
    await merge(order({ way: "rebase" }));
    expect(log()).toEqual(["own", "empty", "same here", "first"]);
  });

  test("a file renamed on one side gets the other side's changes", async () => {
    repository.commit({ "long.txt": "1\n2\n3\n4\n5\n6\n7\n8\n" }, "long");
    const other = repository.worktree("other");
    repository.commit({ "long.txt": "1\n2\n3\n4\n5\n6\n7\neight\n" }, "change", other);
    repository.git("mv", "long.txt", "renamed.txt");
    repository.commit({}, "rename");
    await merge(order({ way: "rebase", tree: other, branch: "holdfast/other" }));
    expect(repository.read("renamed.txt")).toMatch(/eight/);
  });

  test("conflict resolutions in a merge commit are not lost silently", async () => {
    repository.commit({ "a.txt": "theirs\n" }, "theirs", tree);
    repository.commit({ "a.txt": "ours\n" }, "ours");
    try {
      repository.gitIn(tree, "merge", "--quiet", "main");
    } catch {
      repository.commit({ "a.txt": "both\n" }, "resolved", tree);
    }
    repository.commit({ "d.txt": "later\n" }, "later");
    expect(await refused({ way: "rebase" })).toMatchObject({ code: "merge_conflict", candidates: ["a.txt"] });
    await merge(order({ way: "squash" }));
    expect(repository.read("a.txt")).toBe("both\n");
  });

  test("a workspace that did not follow does so at the next attempt", async () => {
    repository.commit({ "b.txt": "new\n" }, "second", tree);
    repository.commit({ "d.txt": "theirs\n" }, "meanwhile");
    const old = repository.gitIn(tree, "rev-parse", "HEAD");
    const { commit } = await merge(order({ way: "rebase" }));
    repository.gitIn(tree, "reset", "--quiet", "--hard", old);
    expect((await merge(order({ way: "rebase" }))).commit).toBe(commit);
    expect(repository.gitIn(tree, "rev-parse", "HEAD")).toBe(commit);
    expect(repository.git("rev-parse", "main")).toBe(commit);
  });
});

describe("refused merges", () => {
  test.each(["squash", "rebase"] as const)("a conflict with %s lists its files", async (way) => {
    repository.commit({ "a.txt": "theirs\n", "b c.txt": "1\n" }, "theirs", tree);
    repository.commit({ "a.txt": "ours\n", "b c.txt": "2\n" }, "ours");
    const error = await refused({ way });
    expect(error).toMatchObject({ code: "merge_conflict", exitCode: 30 });
    expect(error.candidates?.toSorted()).toEqual(["a.txt", "b c.txt"]);
  });

  test("a conflict is refused even if uncommitted files were to be committed first", async () => {
    repository.commit({ "a.txt": "ours\n" }, "ours");
    repository.write({ "a.txt": "theirs\n", "new.txt": "x" }, tree);
    expect(await refused({ way: "squash", commit: "all" })).toMatchObject({ code: "merge_conflict", candidates: ["a.txt"] });
    expect(repository.read("a.txt", tree)).toBe("theirs\n");
  });

  test("a base that is checked out with uncommitted changes is refused", async () => {
    repository.commit({ "b.txt": "new\n" }, "second", tree);
    repository.write({ "a.txt": "half done\n" });
    const error = await refused();
    expect(error).toMatchObject({ code: "merge_refused", candidates: [" M a.txt"] });
    expect(error.message).toContain(repository.path);
  });

  test.each(["untracked", "ignored"])("%s files that would be overwritten are refused", async (kind) => {
    if (kind === "ignored") repository.commit({ ".gitignore": "b.txt\n" }, "ignore");
    repository.gitIn(tree, "reset", "--quiet", "--hard", "main");
    repository.write({ "b.txt": "new\n" }, tree);
    repository.gitIn(tree, "add", "--force", "b.txt");
    repository.commit({}, "second", tree);
    repository.write({ "b.txt": "precious\n" });
    expect(await refused()).toMatchObject({ code: "merge_refused", candidates: ["b.txt"] });
    expect(repository.read("b.txt")).toBe("precious\n");
  });

  test("uncommitted files of the workspace are refused and listed", async () => {
    repository.commit({ "b.txt": "new\n" }, "second", tree);
    repository.write({ "a.txt": "half done\n", "notes/n.txt": "x" }, tree);
    expect(await refused()).toMatchObject({ candidates: [" M a.txt", "?? notes/n.txt"], hint: expect.stringContaining("--commit") });
  });

  test("changes in submodules of the base's tree do not block a merge", async () => {
    const library = join(repository.root, "library");
    repository.gitIn(repository.root, "init", "--quiet", "--initial-branch", "main", library);
    repository.commit({ "l.txt": "l\n" }, "library", library);
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib");
    repository.commit({}, "with a library");
    const other = repository.worktree("other");
    repository.commit({ "b.txt": "new\n" }, "second", other);
    repository.commit({ "l.txt": "more\n" }, "in the library", join(repository.path, "lib"));
    await merge(order({ tree: other, branch: "holdfast/other" }));
    expect(repository.git("status", "--porcelain")).toBe(" M lib");
  });

  test("uncommitted files of a submodule, and a nested repository, are refused, because no commit can hold them (mend 20)", async () => {
    const library = join(repository.root, "library");
    repository.gitIn(repository.root, "init", "--quiet", "--initial-branch", "main", library);
    repository.commit({ "l.txt": "l\n" }, "library", library);
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib");
    repository.commit({}, "with a library");
    const other = repository.worktree("other");
    repository.gitIn(other, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init");
    repository.write({ "l.txt": "changed\n" }, join(other, "lib"));
    const there = { tree: other, branch: "holdfast/other", commit: "all" };
    await expect(merge(order(there))).rejects.toMatchObject({ code: "merge_refused", candidates: ["lib"] });
    const inner = repository.commit({}, "in the library", join(other, "lib"));
    repository.gitIn(other, "init", "--quiet", "clone");
    repository.commit({ "c.txt": "c\n" }, "inner", join(other, "clone"));
    await expect(merge(order(there))).rejects.toMatchObject({ code: "merge_refused", candidates: ["clone"] });
    rmSync(join(other, "clone"), { recursive: true });
    await merge(order(there));
    expect(repository.git("rev-parse", "main:lib")).toBe(inner);
  });

  test("a rebase in progress in the workspace is refused", async () => {
    repository.commit({ "a.txt": "theirs\n" }, "theirs", tree);
    repository.commit({ "a.txt": "ours\n" }, "ours");
    expect(() => repository.gitIn(tree, "rebase", "main")).toThrow();
    expect((await refused()).message).toMatch(/a rebase is in progress/);
  });

  test("a base that is a commit or a remote branch is refused", async () => {
    repository.commit({ "b.txt": "new\n" }, "second", tree);
    expect((await refused({ into: repository.git("rev-parse", "main") })).hint).toMatch(/--into BRANCH/);
    expect((await refused({ into: "nowhere" })).message).toBe("there is no branch nowhere");
  });

  test("unrelated histories are refused", async () => {
    repository.gitIn(tree, "switch", "--quiet", "--orphan", "fresh");
    repository.commit({ "z.txt": "z\n" }, "fresh", tree);
    repository.git("branch", "-D", "holdfast/fix");
    expect((await refused({ way: "squash" })).message).toMatch(/no commit in common/);
  });
});

describe("uncommitted files", () => {
  test("are committed with the merge on request, including new files", async () => {
    repository.commit({ "gone.txt": "x\n", "b.txt": "new\n" }, "second", tree);
    repository.write({ "a.txt": "changed\n", "dir/new file.txt": "n\n" }, tree);
    rmSync(join(tree, "gone.txt"));
    const outcome = await merge(order({ commit: "The rest" }));
    expect(outcome.commits).toBe(2);
    expect(log()).toEqual(["The rest", "second", "first"]);
    expect(repository.gitIn(tree, "status", "--porcelain")).toBe("");
    expect([repository.read("a.txt"), repository.read("dir/new file.txt"), existsSync(join(repository.path, "gone.txt"))]).toEqual([
      "changed\n",
      "n\n",
      false,
    ]);
  });

  /** Installs hooks in the user's global configuration. */
  const ownHook = (script: string) => {
    repository.write({ "hooks/pre-commit": `#!/bin/sh\n${script}\n` }, repository.root);
    chmodSync(join(repository.root, "hooks/pre-commit"), 0o755);
    repository.git("config", "--global", "core.hooksPath", join(repository.root, "hooks"));
  };
  const ELSEWHERE = "unset GIT_INDEX_FILE GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_CONFIG_PARAMETERS";

  test("pass the commit hooks of the user's global configuration, which may refuse them", async () => {
    ownHook("git diff --cached --name-only | grep -q secret && { echo no secrets >&2; exit 1; }\nexit 0");
    repository.write({ "secret.txt": "s\n" }, tree);
    expect((await refused({ commit: "all" })).message).toMatch(/pre-commit refuses the commit: no secrets/);
    rmSync(join(tree, "secret.txt"));
    repository.write({ "fine.txt": "f\n" }, tree);
    await merge(order({ commit: "all" }));
    expect(repository.read("fine.txt")).toBe("f\n");
  });

  test.each(["main", "release"])("stay committed when %s moves at the same moment, and a second attempt works", async (into) => {
    repository.git("branch", "release");
    const move =
      into === "main"
        ? `git -C ${repository.path} commit --quiet --allow-empty -m meanwhile`
        : "git update-ref refs/heads/release $(git commit-tree -p release -m meanwhile release^{tree})";
    ownHook(`rm "$0"\n${ELSEWHERE}\n${move}`);
    repository.write({ "b.txt": "new\n" }, tree);
    await expect(merge(order({ into, commit: "all" }))).rejects.toMatchObject({
      code: "merge_refused",
      hint: expect.stringMatching(/try again/),
    });
    expect(log(into)[0]).toBe("meanwhile");
    expect(repository.gitIn(tree, "status", "--porcelain")).toBe("");
    await merge(order({ into, way: "rebase" }));
    expect(log(into)).toEqual(["all", "meanwhile", "first"]);
  });

  test("are not committed if an agent commits at the same moment", async () => {
    const commit = "git commit --quiet --no-verify --allow-empty -m agent";
    ownHook(`rm "$0"\n${ELSEWHERE}\n${commit}`);
    repository.write({ "b.txt": "new\n" }, tree);
    await expect(merge(order({ commit: "all" }))).rejects.toMatchObject({ message: expect.stringMatching(/another commit was made/) });
    expect(log("holdfast/fix")).toEqual(["agent", "first"]);
    expect(repository.gitIn(tree, "status", "--porcelain")).toBe("?? b.txt");
    expect(log()).toEqual(["first"]);
  });
});
