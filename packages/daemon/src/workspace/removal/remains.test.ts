import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { WorkspaceId, WorkspaceSpec } from "@holdfast/contract";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { makeContext } from "../context/context.ts";
import { recoverTree } from "./recover.ts";
import { keepRemains, readRemains } from "./remains.ts";
import { takeAway } from "./take-away.ts";

let repository: ScratchRepository;
let spec: WorkspaceSpec & { repo: string };
let tree: string;

const REF = "refs/holdfast/removed/wabcdefghi";

beforeEach(() => {
  repository = new ScratchRepository();
  onTestFinished(() => repository[Symbol.dispose]());
  tree = repository.worktree("wabcdefghi/project-fix", "holdfast/fix");
  spec = {
    id: "wabcdefghi" as WorkspaceId,
    name: "fix",
    kind: "worktree",
    path: tree,
    repo: repository.path,
    branch: "holdfast/fix",
    ownBranch: true,
    base: "main",
    baseCommit: null,
    portBase: 0,
    ports: 0,
    notes: [],
  };
});

const options = () => ({ env: repository.env });
const keep = () => keepRemains(spec, { env: repository.env });

async function remove(): Promise<string[]> {
  await keep();
  const { tip = null } = (await readRemains(repository.path, REF, options())) ?? {};
  return takeAway({ spec, directory: dirname(tree), tip }, options());
}

async function recover() {
  const remains = await readRemains(repository.path, REF, options());
  if (!remains) throw new Error("nothing is kept");
  return recoverTree({ repo: repository.path, path: tree, name: "fix", remains, files: REF }, options());
}

const status = (directory = tree) => repository.gitIn(directory, "status", "--porcelain=v1", "--branch", "-uall");

describe("recovering a removed workspace", () => {
  test("recovers commits, staged and unstaged changes, deletions, new files and the Working Context", async () => {
    repository.commit({ "b.txt": "b\n", "gone.txt": "g\n", ".gitignore": "*.log\n" }, "second", tree);
    repository.write({ "a.txt": "staged\n" }, tree);
    repository.gitIn(tree, "add", "a.txt");
    repository.write({ "a.txt": "staged and changed\n", "dir/new ü.txt": "n\n", "x.log": "ignored" }, tree);
    rmSync(join(tree, "gone.txt"));
    makeContext(tree);
    repository.write({ ".holdfast/context/plan.md": "the plan\n" }, tree);
    const before = status();
    const head = repository.gitIn(tree, "rev-parse", "HEAD");

    expect(await remove()).toEqual([]);
    expect(existsSync(dirname(tree))).toBe(false);
    expect(repository.git("branch", "--list", "holdfast/*")).toBe("");
    expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);

    expect(await recover()).toEqual({ branch: "holdfast/fix", madeBranch: true, notes: [] });
    expect(status()).toBe(before);
    expect(repository.gitIn(tree, "rev-parse", "HEAD")).toBe(head);
    expect(repository.gitIn(tree, "show", ":a.txt")).toBe("staged");
    expect(repository.read("a.txt", tree)).toBe("staged and changed\n");
    expect(repository.read("dir/new ü.txt", tree)).toBe("n\n");
    expect(repository.read(".holdfast/context/plan.md", tree)).toBe("the plan\n");
    expect(existsSync(join(tree, "x.log"))).toBe(false);
    expect(repository.git("worktree", "list", "--porcelain")).toMatch(/locked a workspace of Holdfast/);
  });

  test("works after git's garbage collection", async () => {
    repository.commit({ "b.txt": "b\n" }, "second", tree);
    repository.write({ "new.txt": "n\n", "a.txt": "staged\n" }, tree);
    repository.gitIn(tree, "add", "a.txt");
    repository.write({ "a.txt": "changed\n" }, tree);
    await remove();
    repository.git("reflog", "expire", "--expire=now", "--all");
    repository.git("gc", "--quiet", "--prune=now");
    await recover();
    expect(repository.read("new.txt", tree)).toBe("n\n");
    expect(repository.gitIn(tree, "show", ":a.txt")).toBe("staged");
  });

  test("recovers an agent's own branch and a detached head", async () => {
    repository.gitIn(tree, "switch", "--quiet", "-c", "feature");
    repository.commit({ "b.txt": "b\n" }, "second", tree);
    const onFeature = status();
    await remove();
    expect(repository.git("branch", "--list", "feature")).toMatch(/feature/);
    await recover();
    expect(status()).toBe(onFeature);
    repository.gitIn(tree, "switch", "--quiet", "--detach");
    const commit = repository.commit({ "c.txt": "c\n" }, "detached", tree);
    await remove();
    await recover();
    expect(repository.gitIn(tree, "rev-parse", "HEAD")).toBe(commit);
    expect(repository.gitIn(tree, "branch", "--show-current")).toBe("");
  });

  test("uses another branch name if the old one was taken meanwhile", async () => {
    const tip = repository.commit({ "b.txt": "b\n" }, "second", tree);
    await remove();
    repository.git("branch", "holdfast/fix", "main");
    const { branch, notes } = await recover();
    expect(branch).toBe("holdfast/fix-recovered");
    expect(notes).toEqual(["its branch is holdfast/fix-recovered: another branch is now named holdfast/fix"]);
    expect(repository.gitIn(tree, "rev-parse", "HEAD")).toBe(tip);
    expect(repository.git("rev-parse", "holdfast/fix")).toBe(repository.git("rev-parse", "main"));
  });

  test("keeps a person's own branch at the removal and checks it out again", async () => {
    spec = { ...spec, ownBranch: false };
    repository.commit({ "b.txt": "b\n" }, "second", tree);
    const before = status();
    expect(await remove()).toEqual(["the branch holdfast/fix stays: it existed before the workspace"]);
    expect(repository.git("log", "-1", "--format=%s", "holdfast/fix")).toBe("second");
    expect(await recover()).toMatchObject({ madeBranch: false });
    expect(status()).toBe(before);
  });

  test("recovers submodules and nested repositories", async () => {
    const library = join(repository.root, "library");
    repository.gitIn(repository.root, "init", "--quiet", "--initial-branch", "main", library);
    repository.commit({ "l.txt": "l\n" }, "library", library);
    repository.git("config", "--global", "protocol.file.allow", "always");
    repository.gitIn(tree, "submodule", "--quiet", "add", library, "lib");
    repository.commit({}, "with a library", tree);
    const lib = join(tree, "lib");
    repository.commit({ "m.txt": "m\n" }, "in the library", lib);
    repository.write({ "l.txt": "changed\n", "n.txt": "new\n" }, lib);
    for (const name of ["inner", "empty"]) repository.gitIn(tree, "init", "--quiet", "--initial-branch", "main", join(tree, name));
    repository.commit({ "i.txt": "i\n" }, "inner", join(tree, "inner"));
    repository.write({ "e.txt": "e\n" }, join(tree, "empty"));
    const trees = ["", "lib", "inner", "empty"].map((name) => join(tree, name));
    const before = trees.map(status);
    await remove();
    expect(existsSync(tree)).toBe(false);
    expect((await recover()).notes).toEqual([]);
    expect(trees.map(status)).toEqual(before);
    expect(repository.gitIn(lib, "log", "--format=%s")).toBe("in the library\nlibrary");
    expect(repository.read("l.txt", lib)).toBe("changed\n");
    expect(repository.read("e.txt", join(tree, "empty"))).toBe("e\n");
  });

  test("recovers files whose filter fails", async () => {
    repository.write({ ".gitattributes": "*.bin filter=broken\n", "x.bin": "x\n" }, tree);
    for (const way of ["clean", "smudge"]) repository.git("config", "--global", `filter.broken.${way}`, "false");
    repository.git("config", "--global", "filter.broken.required", "true");
    await remove();
    await recover();
    expect(repository.read("x.bin", tree)).toBe("x\n");
  });
});

describe("keepRemains", () => {
  test("changes neither index nor branch, and writes nothing if nothing changed", async () => {
    repository.write({ "new.txt": "n\n" }, tree);
    const before = status();
    await keep();
    const first = repository.git("rev-parse", REF);
    await keep();
    expect([repository.git("rev-parse", REF), status()]).toEqual([first, before]);
  });

  test("keeps later changes too, and what was kept before stays reachable", async () => {
    repository.write({ "new.txt": "one\n" }, tree);
    await keep();
    const first = repository.git("rev-parse", REF);
    repository.write({ "new.txt": "two\n" }, tree);
    await keep();
    expect(repository.git("show", `${REF}:new.txt`)).toBe("two");
    expect(repository.git("rev-list", REF)).toContain(first);
  });

  test("refuses unreadable files, which would be lost", async () => {
    repository.write({ "secret.txt": "s\n" }, tree);
    using _ = unreadable(join(tree, "secret.txt"));
    await expect(keep()).rejects.toMatchObject({ code: "would_lose_work", candidates: ["secret.txt"] });
  });

  test("keeps the branch if the directory is gone", async () => {
    const tip = repository.commit({ "b.txt": "b\n" }, "second", tree);
    rmSync(tree, { recursive: true });
    await remove();
    await recover();
    expect([repository.gitIn(tree, "rev-parse", "HEAD"), status()]).toEqual([tip, "## holdfast/fix"]);
  });
});

describe("takeAway", () => {
  test("completes an interrupted removal, at any step", async () => {
    repository.write({ "new.txt": "n\n" }, tree);
    await keep();
    const tip = repository.git("rev-parse", "holdfast/fix");
    // Renamed and half deleted.
    renameSync(tree, join(dirname(tree), "removed-project-fix"));
    rmSync(join(dirname(tree), "removed-project-fix", "a.txt"));
    await takeAway({ spec, directory: dirname(tree), tip }, options());
    expect(existsSync(dirname(tree))).toBe(false);
    expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
    expect(repository.git("branch", "--list", "holdfast/*")).toBe("");
  });

  test("keeps a branch that has moved on or is checked out elsewhere", async () => {
    await keep();
    const tip = repository.git("rev-parse", "holdfast/fix");
    repository.commit({ "b.txt": "b\n" }, "later", tree);
    expect(await takeAway({ spec, directory: dirname(tree), tip }, options())).toEqual([
      "the branch holdfast/fix stays: it has new commits",
    ]);
    expect(repository.git("log", "-1", "--format=%s", "holdfast/fix")).toBe("later");
    repository.git("switch", "--quiet", "holdfast/fix");
    const [note] = await takeAway({ spec, directory: dirname(tree), tip: repository.git("rev-parse", "HEAD") }, options());
    expect(note).toMatch(/is checked out in/);
  });

  test("removes read-only directories", async () => {
    mkdirSync(join(tree, "cache/deep"), { recursive: true });
    writeFileSync(join(tree, "cache/deep/f"), "");
    chmodSync(join(tree, "cache/deep"), 0o500);
    await remove();
    expect(existsSync(dirname(tree))).toBe(false);
  });

  test("leaves a plain directory, which belongs to a person", async () => {
    const plain = join(repository.root, "plain");
    repository.write({ "plain/f": "f", "wplain/workspace.json": "{}" }, repository.root);
    const of = { ...spec, kind: "plain" as const, path: plain, repo: null, branch: null };
    await takeAway({ spec: of, directory: join(repository.root, "wplain"), tip: null }, options());
    expect([existsSync(join(plain, "f")), existsSync(join(repository.root, "wplain"))]).toEqual([true, false]);
  });
});

/** Root can read whatever the mode, so for root the kernel must refuse. */
function unreadable(file: string): Disposable {
  if (process.getuid?.() !== 0) {
    chmodSync(file, 0);
    return { [Symbol.dispose]: () => {} };
  }
  execFileSync("mount", ["--bind", "/sys/bus/cpu/uevent", file]);
  return { [Symbol.dispose]: () => void execFileSync("umount", [file]) };
}
